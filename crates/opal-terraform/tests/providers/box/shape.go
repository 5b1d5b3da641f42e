package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// box_shape has every kind of attribute and block, and a color whose case does not matter.
type shape struct{}

type limits struct {
	CPU    *int64       `tfsdk:"cpu" json:"cpu"`
	Memory *string      `tfsdk:"memory" json:"memory"`
	Used   types.String `tfsdk:"used" json:"-"`
}

type rule struct {
	Port     int64   `tfsdk:"port" json:"port"`
	Protocol *string `tfsdk:"protocol" json:"protocol"`
}

type member struct {
	ID   string  `tfsdk:"id" json:"id"`
	Role *string `tfsdk:"role" json:"role"`
}

type shapeModel struct {
	Name     string            `tfsdk:"name" json:"name"`
	UID      types.String      `tfsdk:"uid" json:"-"`
	Kind     *string           `tfsdk:"kind" json:"kind"`
	Color    *string           `tfsdk:"color" json:"color"`
	Flag     *bool             `tfsdk:"flag" json:"flag"`
	Ratio    *float64          `tfsdk:"ratio" json:"ratio"`
	Labels   []string          `tfsdk:"labels" json:"labels"`
	Ports    []int64           `tfsdk:"ports" json:"ports"`
	Options  map[string]string `tfsdk:"options" json:"options"`
	Zone     *string           `tfsdk:"zone" json:"zone"`
	Password types.String      `tfsdk:"password" json:"-"`
	Any      types.Dynamic     `tfsdk:"any" json:"-"`
	Open     any               `tfsdk:"-" json:"any"`
	Limits   *limits           `tfsdk:"limits" json:"limits"`
	Rules    []rule            `tfsdk:"rule" json:"rule"`
	Members  []member          `tfsdk:"member" json:"member"`
}

func (*shape) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_shape"
}

func (*shape) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	resp.Schema = schema.Schema{
		Attributes: map[string]schema.Attribute{
			"name":     schema.StringAttribute{Required: true, PlanModifiers: replace},
			"uid":      schema.StringAttribute{Computed: true, PlanModifiers: keep},
			"kind":     schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("plain")},
			"color":    schema.StringAttribute{Optional: true, PlanModifiers: []planmodifier.String{sameColor{}}},
			"flag":     schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false)},
			"ratio":    schema.Float64Attribute{Optional: true},
			"labels":   schema.SetAttribute{Optional: true, ElementType: types.StringType},
			"ports":    schema.ListAttribute{Optional: true, ElementType: types.Int64Type},
			"options":  schema.MapAttribute{Optional: true, ElementType: types.StringType},
			"zone":     schema.StringAttribute{Optional: true, PlanModifiers: replace},
			"password": schema.StringAttribute{Optional: true, Sensitive: true},
			"any":      schema.DynamicAttribute{Optional: true},
			"limits": schema.SingleNestedAttribute{Optional: true, Attributes: map[string]schema.Attribute{
				"cpu":    schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(1)},
				"memory": schema.StringAttribute{Optional: true},
				"used":   schema.StringAttribute{Computed: true, PlanModifiers: keep},
			}},
		},
		Blocks: map[string]schema.Block{
			"rule": schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: map[string]schema.Attribute{
				"port":     schema.Int64Attribute{Required: true},
				"protocol": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("tcp")},
			}}},
			"member": schema.SetNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: map[string]schema.Attribute{
				"id":   schema.StringAttribute{Required: true},
				"role": schema.StringAttribute{Optional: true},
			}}},
		},
	}
}

// A color that differs only in its case stays as it is.
type sameColor struct{}

func (sameColor) Description(context.Context) string         { return "case does not matter" }
func (sameColor) MarkdownDescription(context.Context) string { return "case does not matter" }

func (sameColor) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if !req.StateValue.IsNull() && strings.EqualFold(req.StateValue.ValueString(), req.PlanValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}

func (*shape) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"name": identityschema.StringAttribute{RequiredForImport: true},
	}}
}

func (*shape) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("name"), path.Root("name"), req, resp)
}

func shapeFile(name string) string {
	return filepath.Join(cloud, "shape-"+name+".json")
}

// What the cloud decides, and what it writes in a way of its own.
func (m *shapeModel) store() error {
	m.UID = types.StringValue("shape-" + m.Name)
	if m.Limits != nil {
		m.Limits.Used = types.StringValue("0")
	}
	m.Open = closed(m.Any)
	kept := *m
	if m.Color != nil {
		lower := strings.ToLower(*m.Color)
		kept.Color = &lower
	}
	bytes, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return os.WriteFile(shapeFile(m.Name), bytes, 0o600)
}

func (*shape) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m shapeModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := m.store(); err != nil {
		resp.Diagnostics.AddError("cannot create", err.Error())
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("name"), m.Name)...)
}

func (*shape) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m shapeModel
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("name"), &m.Name)...)
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("password"), &m.Password)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("name"), m.Name)...)
	bytes, err := os.ReadFile(shapeFile(m.Name))
	if os.IsNotExist(err) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err == nil {
		err = json.Unmarshal(bytes, &m)
	}
	if err != nil {
		resp.Diagnostics.AddError("cannot read", err.Error())
		return
	}
	m.UID = types.StringValue("shape-" + m.Name)
	if m.Limits != nil {
		m.Limits.Used = types.StringValue("0")
	}
	m.Any = types.DynamicNull()
	if m.Open != nil {
		m.Any = types.DynamicValue(opened(m.Open))
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (*shape) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m shapeModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := m.store(); err != nil {
		resp.Diagnostics.AddError("cannot update", err.Error())
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("name"), m.Name)...)
}

func (*shape) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var name string
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("name"), &name)...)
	if err := os.Remove(shapeFile(name)); err != nil {
		resp.Diagnostics.AddError("cannot delete", err.Error())
	}
}
