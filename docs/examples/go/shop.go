// A shop that sends an SMS for each order, and is told the results.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxTries = 6
	maxAge   = 5 * time.Minute
)

var (
	transient = map[int]bool{429: true, 500: true, 502: true, 503: true, 504: true}
	client    = &http.Client{Timeout: 30 * time.Second}
	secret, _ = base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	events    sync.Map // in your shop: a unique column
)

// Answer is what the program reads of an answer.
type Answer struct {
	Result        string `json:"result"`
	ResultMessage string `json:"resultMessage"`
	Item          struct {
		RequestID string         `json:"requestId"`
		Counts    map[string]int `json:"counts"`
	} `json:"item"`
}

// Delivery is what the program reads of a webhook's delivery.
type Delivery struct {
	Data struct {
		Items []struct {
			EventID       string `json:"eventId"`
			Reference     string `json:"reference"`
			SendingStatus struct {
				Value string `json:"value"`
			} `json:"sendingStatus"`
		} `json:"items"`
	} `json:"data"`
}

// Refused says that the service has refused a call for good: correct it before you repeat it.
type Refused struct{ reason string }

func (r Refused) Error() string { return r.reason }

// call repeats what is transient. A send must have an Idempotency-Key: it may have been accepted all the same.
func call(method, path string, body []byte, idempotencyKey string) (Answer, error) {
	for tried := 1; ; tried++ {
		wait := time.Duration((0.5 + rand.Float64()/2) * float64(time.Second<<(tried-1)))
		request, err := http.NewRequest(method, os.Getenv("PABAL_URL")+path, bytes.NewReader(body))
		if err != nil {
			return Answer{}, err
		}
		request.Header.Set("apiKey", os.Getenv("PABAL_API_KEY"))
		request.Header.Set("Content-Type", "application/json")
		if idempotencyKey != "" {
			request.Header.Set("Idempotency-Key", idempotencyKey)
		}
		response, err := client.Do(request)
		if err == nil {
			var answer Answer
			err = json.NewDecoder(response.Body).Decode(&answer)
			response.Body.Close()
			switch {
			case err == nil && answer.Result == "SUCCESS":
				return answer, nil
			case err == nil && !transient[response.StatusCode]:
				return answer, Refused{answer.Result + ": " + answer.ResultMessage}
			}
			err = fmt.Errorf("HTTP %d", response.StatusCode)
			if seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")); time.Duration(seconds)*time.Second > wait {
				wait = time.Duration(seconds) * time.Second
			}
		}
		if tried == maxTries {
			return Answer{}, err
		}
		time.Sleep(wait)
	}
}

// sendSMS returns the id of the request. A repeat with the same key sends nothing.
func sendSMS(content, phone, reference, idempotencyKey string) (string, error) {
	receivers := []map[string]string{{"phoneNumber": phone, "reference": reference}}
	body, err := json.Marshal(map[string]any{"content": content, "sender": "02-1234-5678", "receivers": receivers})
	if err != nil {
		return "", err
	}
	answer, err := call("POST", "/api/message/sendSMS.v1.0", body, idempotencyKey)
	return answer.Item.RequestID, err
}

func isSigned(header http.Header, body []byte) bool {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), header.Get("webhook-timestamp"), body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	seconds, _ := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); age > maxAge || age < -maxAge {
		return false
	}
	for _, each := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal(expected, []byte(each)) {
			return true
		}
	}
	return false
}

func order(w http.ResponseWriter, r *http.Request) { // POST /orders/1001/010-1234-5678
	path := strings.Split(r.URL.Path, "/")
	id, err := sendSMS("주문 "+path[2]+"이(가) 접수되었습니다.", path[3], path[2], "order-"+path[2])
	var refused Refused
	switch {
	case errors.As(err, &refused):
		http.Error(w, refused.reason, http.StatusBadRequest)
	case err != nil:
		http.Error(w, "try again", http.StatusServiceUnavailable)
	default:
		fmt.Fprint(w, id)
	}
}

func lookUp(w http.ResponseWriter, r *http.Request) { // GET /requests/REQUEST_ID
	id := url.QueryEscape(strings.TrimPrefix(r.URL.Path, "/requests/"))
	answer, err := call("GET", "/api/message/request.v1.0?requestId="+id, nil, "")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	json.NewEncoder(w).Encode(answer.Item.Counts)
}

func receive(w http.ResponseWriter, r *http.Request) { // POST /pabal: the webhook
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	var delivery Delivery
	if err != nil || !isSigned(r.Header, body) || json.Unmarshal(body, &delivery) != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	for _, item := range delivery.Data.Items {
		if _, isKnown := events.LoadOrStore(item.EventID, true); !isKnown { // an event may come twice
			fmt.Println(item.Reference, item.SendingStatus.Value)
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	if len(secret) == 0 {
		log.Fatal("WEBHOOK_SECRET is missing: anybody could sign with an empty one")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	http.HandleFunc("/orders/", order)
	http.HandleFunc("/requests/", lookUp)
	http.HandleFunc("/pabal", receive)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
