{{- /* The image. A release of the chart names that which was made with it by its digest, too. */}}
{{- define "image" -}}
{{ .Values.image.repository }}:{{ with .Values.image.tag }}{{ . }}{{ else }}{{ .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}{{ end }}
{{- end }}

{{- /* From what on Go collects garbage harder: nine tenths of the limit, because the rest is for what Go doesn't count. */}}
{{- define "goMemoryLimit" -}}
{{- $mebibytes := int (regexFind "^[0-9]+" .) }}
{{- if hasSuffix "Gi" . }}{{ $mebibytes = mul 1024 $mebibytes }}{{ end }}
{{- div (mul 9 $mebibytes) 10 }}MiB
{{- end }}

{{- /* What no container of podrank-webhook may do. */}}
{{- define "securityContext" -}}
{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsUser: 65532, runAsGroup: 65532, capabilities: {drop: [ALL]}}
{{- end }}

{{- /* Where its pods may run, and how their image is pulled. */}}
{{- define "placement" -}}
{{- range $field := list "imagePullSecrets" "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with index $.Values $field }}
{{ $field }}: {{ toJson . }}
{{- end }}
{{- end }}
{{- end }}
