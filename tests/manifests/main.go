// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command manifests reads Kubernetes manifests by the API's own types, and refuses fields that they do not have.
// It prints the arguments of the first container, one a line.
// usage: manifests FILE KIND...   (the kind of each document of FILE, in order)
package main

import (
	"bytes"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "manifests: "+format+"\n", arguments...)
	os.Exit(1)
}

func main() {
	if len(os.Args) < 3 {
		fail("usage: manifests FILE KIND...")
	}
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail("%v", err)
	}
	documents, kinds := bytes.Split(file, []byte("\n---\n")), os.Args[2:]
	if len(documents) != len(kinds) {
		fail("%s has %d documents, not %d", os.Args[1], len(documents), len(kinds))
	}
	for i, document := range documents {
		var into any
		switch kinds[i] {
		case "Namespace":
			into = new(corev1.Namespace)
		case "DaemonSet":
			into = new(appsv1.DaemonSet)
		case "Container": // what kubectl debug --custom takes, has no kind
			into = new(corev1.Container)
		default:
			fail("no such kind: %s", kinds[i])
		}
		if err := yaml.UnmarshalStrict(document, into); err != nil {
			fail("%s, document %d: %v", os.Args[1], i+1, err)
		}
		switch object := into.(type) {
		case *corev1.Namespace:
			if object.Kind != kinds[i] || object.APIVersion != "v1" {
				fail("%s, document %d is a %s of %s", os.Args[1], i+1, object.Kind, object.APIVersion)
			}
		case *appsv1.DaemonSet:
			labels := object.Spec.Template.Labels
			if object.Kind != kinds[i] || object.APIVersion != "apps/v1" {
				fail("%s, document %d is a %s of %s", os.Args[1], i+1, object.Kind, object.APIVersion)
			}
			for key, value := range object.Spec.Selector.MatchLabels {
				if labels[key] != value {
					fail("%s: the selector's label %s is not the template's", os.Args[1], key)
				}
			}
			for _, argument := range object.Spec.Template.Spec.Containers[0].Args {
				fmt.Println(argument)
			}
		}
	}
}
