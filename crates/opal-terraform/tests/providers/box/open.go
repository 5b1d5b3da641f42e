package main

import (
	"math/big"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// What a file has of a value whose type the schema leaves open.
func closed(value attr.Value) any {
	switch it := value.(type) {
	case types.Dynamic:
		if it.IsNull() || it.IsUnderlyingValueNull() {
			return nil
		}
		return closed(it.UnderlyingValue())
	case types.String:
		return it.ValueString()
	case types.Bool:
		return it.ValueBool()
	case types.Number:
		number, _ := it.ValueBigFloat().Float64()
		return number
	case types.Tuple:
		return each(it.Elements())
	case types.List:
		return each(it.Elements())
	case types.Object:
		return fields(it.Attributes())
	case types.Map:
		return fields(it.Elements())
	}
	return nil
}

func each(values []attr.Value) []any {
	all := []any{}
	for _, value := range values {
		all = append(all, closed(value))
	}
	return all
}

func fields(values map[string]attr.Value) map[string]any {
	all := map[string]any{}
	for name, value := range values {
		all[name] = closed(value)
	}
	return all
}

// The same as a value, with the type that follows from it.
func opened(value any) attr.Value {
	switch it := value.(type) {
	case string:
		return types.StringValue(it)
	case bool:
		return types.BoolValue(it)
	case float64:
		return types.NumberValue(big.NewFloat(it))
	case []any:
		values, kinds := []attr.Value{}, []attr.Type{}
		for _, item := range it {
			one := opened(item)
			values, kinds = append(values, one), append(kinds, one.Type(nil))
		}
		return types.TupleValueMust(kinds, values)
	case map[string]any:
		values, kinds := map[string]attr.Value{}, map[string]attr.Type{}
		for name, item := range it {
			values[name] = opened(item)
			kinds[name] = values[name].Type(nil)
		}
		return types.ObjectValueMust(kinds, values)
	}
	return types.DynamicNull()
}
