#!/bin/sh
# How the certificates beside this file were made. They prove nothing to anyone: every key is thrown away but
# that of the test's own server, which is in server.pem for all to see. Valid from 2020 to 2120.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$(mktemp -d)"
cat >openssl.cnf <<'END'
[ca]
default_ca = it
[it]
database = index.txt
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = none
prompt = no
[none]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
END
: >index.txt
echo 01 >serial
sign() { # name extensions further-options…
    name=$1 extensions=$2
    shift 2
    openssl req -config openssl.cnf -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
        -subj "/CN=pabal test $name" -keyout "$name.key" -out "$name.csr"
    openssl ca -config openssl.cnf -batch -notext -extensions "$extensions" -startdate 20200101000000Z \
        -enddate 21200101000000Z -in "$name.csr" -out "$name.crt" "$@"
}
sign authority authority -selfsign -keyfile authority.key
sign stranger authority -selfsign -keyfile stranger.key
sign server server -cert authority.crt -keyfile authority.key
cp authority.crt "$here/authority.pem"
cp stranger.crt "$here/stranger.pem"
cat server.crt server.key >"$here/server.pem"
