package main

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// Field types that tables and JSON format specially.
type (
	oidField  string // an object id; people see an abbreviation
	timeField int64  // Unix seconds; 0 if unknown
	textField string // a text of several lines; people see it as one
	codeField string // a line of a file; people see its tabs as spaces
	pathField string // the path of a file or directory
)

// A costField is an amount in USD, if it is known.
type costField struct {
	usd   float64
	known bool
}

// A celled value has a cell of its own form, for tables.
type celled interface{ cell() cell }

// A valued value has JSON of its own form.
type valued interface{ value() jsonvalue.Value }

func (o oidField) cell() cell { return oid(string(o)) }

func (t timeField) cell() cell { return date(int64(t)) }

// value returns null for a time that is not known.
func (t timeField) value() jsonvalue.Value {
	if t == 0 {
		return jsonvalue.Value{}
	}
	return jsonvalue.StringValue(utc(int64(t)))
}

func (t textField) cell() cell {
	return cell{program: text(string(t)).program, person: oneLine(string(t))}
}

func (c codeField) cell() cell {
	return cell{program: text(string(c)).program, person: withoutTabs(string(c))}
}

func (p pathField) cell() cell { return path(string(p)) }

// cell returns the amount; people see cents.
func (c costField) cell() cell {
	if !c.known {
		return text("-")
	}
	return cell{program: strconv.FormatFloat(c.usd, 'f', 4, 64), person: strconv.FormatFloat(c.usd, 'f', 2, 64)}
}

func (c costField) value() jsonvalue.Value {
	if !c.known {
		return jsonvalue.Value{}
	}
	return jsonvalue.NumberValue(strconv.FormatFloat(c.usd, 'f', 6, 64))
}

// cellOf returns the cell of a field in a column of a kind.
func cellOf(field any, kind string) cell {
	switch v := field.(type) {
	case celled:
		return v.cell()
	case int:
		return cellOf(int64(v), kind)
	case int64:
		if kind == numberColumn {
			return number(v)
		}
		return text(strconv.FormatInt(v, 10))
	case []string:
		return text(strings.Join(v, ","))
	case jsonvalue.Value:
		return text(v.JSON())
	}
	return text(reflect.ValueOf(field).String())
}

// rowFields returns the fields of a row, with those of embedded structs. Their Index starts at the row.
func rowFields(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Anonymous })
}

// columnsOf returns the fields of a row that are columns of a table.
func columnsOf(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(rowFields(t), func(f reflect.StructField) bool { return f.Tag.Get("head") == "" })
}

func heads(columns []reflect.StructField) []string {
	return mapped(columns, func(f reflect.StructField) string { return f.Tag.Get("head") })
}

func shapes(columns []reflect.StructField) []shape {
	return mapped(columns, func(f reflect.StructField) shape {
		kind, option, _ := strings.Cut(f.Tag.Get("show"), ",")
		switch f.Type {
		case reflect.TypeFor[int](), reflect.TypeFor[int64](), reflect.TypeFor[costField]():
			kind = cmp.Or(kind, numberColumn)
		}
		return shape{kind: kind, spare: option != "", person: option == "person"}
	})
}

// A jsonRows converts rows to JSON. It keeps the fields of their types.
type jsonRows map[reflect.Type][]reflect.StructField

func (j jsonRows) fields(t reflect.Type) []reflect.StructField {
	fields, ok := j[t]
	if !ok {
		fields = rowFields(t)
		j[t] = fields
	}
	return fields
}

// value converts a row, or a value in a row.
func (j jsonRows) value(v reflect.Value) jsonvalue.Value {
	switch value := v.Interface().(type) {
	case jsonvalue.Value:
		return value
	case valued:
		return value.value()
	}
	switch v.Kind() {
	case reflect.Bool:
		return jsonvalue.BoolValue(v.Bool())
	case reflect.String:
		return jsonvalue.StringValue(v.String())
	case reflect.Int, reflect.Int64:
		return jsonvalue.NumberValue(strconv.FormatInt(v.Int(), 10))
	case reflect.Pointer:
		if v.IsNil() {
			return jsonvalue.Value{}
		}
		return j.value(v.Elem())
	case reflect.Slice:
		items := make([]jsonvalue.Value, v.Len())
		for i := range items {
			items[i] = j.value(v.Index(i))
		}
		return jsonvalue.ArrayValue(items...)
	}
	var members []jsonvalue.Member
	for _, f := range j.fields(v.Type()) {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		field := v.FieldByIndex(f.Index)
		if name == "" || name == "-" || option == "omitempty" && field.IsZero() {
			continue
		}
		members = append(members, jsonvalue.Member{Name: name, Value: j.value(field)})
	}
	return jsonvalue.ObjectValue(members...)
}
