// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apiserver/pkg/registry/rest"
)

// tables is upstream's table convertor with our columns: the real ones live in
// k8s.io/kubernetes. Kinds without columns of their own have Name and Age.
type tables struct {
	rest.TableConvertor
	resource *resource
}

func (t tables) ConvertToTable(ctx context.Context, o, how runtime.Object) (*metav1.Table, error) {
	table, err := t.TableConvertor.ConvertToTable(ctx, o, how)
	if err != nil {
		return nil, err
	}
	columns, row := t.resource.columns, t.resource.row
	if row == nil {
		columns, row = nameAndAge, nameAndAgeRow
	}
	if table.ColumnDefinitions != nil { // a watch names them once
		table.ColumnDefinitions = columns
	}
	for i := range table.Rows {
		table.Rows[i].Cells = row(table.Rows[i].Object.Object)
	}
	return table, nil
}

func column(name string, priority int32) metav1.TableColumnDefinition {
	c := metav1.TableColumnDefinition{Name: name, Type: "string", Priority: priority}
	if name == "Name" {
		c.Format = "name"
	}
	return c
}

func age(t metav1.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(t.Time))
}

func orNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

var nameAndAge = []metav1.TableColumnDefinition{column("Name", 0), column("Age", 0)}

func nameAndAgeRow(o runtime.Object) []any {
	m, err := meta.Accessor(o)
	if err != nil {
		return []any{"", ""}
	}
	return []any{m.GetName(), age(m.GetCreationTimestamp())}
}

var podColumns = []metav1.TableColumnDefinition{
	column("Name", 0), column("Ready", 0), column("Status", 0), column("Restarts", 0), column("Age", 0),
	column("IP", 1), column("Node", 1), column("Nominated Node", 1), column("Readiness Gates", 1),
}

func podRow(o runtime.Object) []any {
	p := o.(*corev1.Pod)
	ready, restarts, reason := 0, 0, string(p.Status.Phase)
	var last metav1.Time
	if p.Status.Reason != "" {
		reason = p.Status.Reason
	}
	for _, c := range p.Status.ContainerStatuses {
		restarts += int(c.RestartCount)
		if t := c.LastTerminationState.Terminated; t != nil && last.Before(&t.FinishedAt) {
			last = t.FinishedAt
		}
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			reason = c.State.Waiting.Reason
		case c.State.Terminated != nil && c.State.Terminated.Reason != "":
			reason = c.State.Terminated.Reason
		case c.Ready && c.State.Running != nil:
			ready++
		}
	}
	if p.DeletionTimestamp != nil {
		reason = "Terminating"
	}
	again := strconv.Itoa(restarts)
	if restarts > 0 && !last.IsZero() {
		again += fmt.Sprintf(" (%s ago)", age(last))
	}
	return []any{p.Name, fmt.Sprintf("%d/%d", ready, len(p.Spec.Containers)), reason, again,
		age(p.CreationTimestamp), orNone(p.Status.PodIP), orNone(p.Spec.NodeName), orNone(p.Status.NominatedNodeName), "<none>"}
}
