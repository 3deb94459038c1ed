{{- define "pabal.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "pabal.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "pabal.labels" -}}
{{ include "pabal.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "pabal.isPostgresql" -}}
{{- if eq .Values.store.kind "postgresql" -}}yes
{{- else if ne .Values.store.kind "sqlite" -}}{{ fail "store.kind: write sqlite or postgresql" }}
{{- end -}}
{{- end -}}

{{- define "pabal.image" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}

{{/* What every pod has: no rights, a read-only root. */}}
{{- define "pabal.pod" -}}
automountServiceAccountToken: false
# Kubernetes would set PABAL_PORT and others for the service, which are our own settings.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ add (mul 2 .Values.stopSeconds) 20 }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "pabal.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{- define "pabal.env" -}}
- name: PABAL_STOP_SECONDS
  value: {{ .Values.stopSeconds | quote }}
{{- if .Values.config }}
- name: PABAL_CONFIG
  value: /etc/pabal/pabal.toml
{{- end }}
{{- if include "pabal.isPostgresql" . }}
{{ include "pabal.storeEnv" . }}
- name: PABAL_MIGRATE
  value: "false"
{{- end }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "pabal.storeEnv" -}}
- name: PABAL_STORE
  valueFrom:
    secretKeyRef:
      name: {{ .Values.store.postgresql.secret }}
      key: {{ .Values.store.postgresql.key }}
- name: PABAL_SLOTS
  value: {{ .Values.store.postgresql.slots | quote }}
{{- end -}}

{{- define "pabal.envFrom" -}}
{{- with .Values.envFromSecrets }}
envFrom:
{{- range . }}
  - secretRef: {name: {{ . }}}
{{- end }}
{{- end }}
{{- end -}}

{{- define "pabal.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: http}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: {path: /readyz, port: http}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}

{{- define "pabal.mounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: data, mountPath: /data}
{{- if .Values.config }}
- {name: config, mountPath: /etc/pabal, readOnly: true}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "pabal.volumes" -}}
- {name: tmp, emptyDir: {}}
{{- if include "pabal.isPostgresql" . }}
- {name: data, emptyDir: {}}
{{- end }}
{{- if .Values.config }}
- name: config
  configMap: {name: {{ include "pabal.name" . }}}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Pods start again when their settings change. */}}
{{- define "pabal.annotations" -}}
checksum/config: {{ .Values.config | sha256sum }}
{{- end -}}
