//! The answers of a WASI that has nothing.

use wasmtime::component::types::{Case, ComponentFunc, Type};
use wasmtime::component::{Resource, ResourceAny, Val};
use wasmtime::{AsContextMut as _, Result, StoreContextMut, bail};

use super::Inert;
use crate::engine::State;

/// Random bytes of one call of a function.
const MAX_RANDOM: u64 = 1 << 20;

/// What a stream takes at a time.
const WRITE_BYTES: u64 = 64 << 10;

pub(super) fn answer(
    name: &str,
    mut store: StoreContextMut<'_, State>,
    ty: &ComponentFunc,
    params: &[Val],
    results: &mut [Val],
) -> Result<()> {
    let given = special(name, &mut store, params)?;
    for (result, ty) in results.iter_mut().zip(ty.results()) {
        *result = match &given {
            Some(value) => value.clone(),
            None => nothing(&mut store, &ty)?,
        };
    }
    for param in params {
        let_go(&mut store, param)?;
    }
    Ok(())
}

/// The functions that do something, by their names, which are unique in WASI 0.2.
fn special(
    name: &str,
    store: &mut StoreContextMut<'_, State>,
    params: &[Val],
) -> Result<Option<Val>> {
    let done = Ok(Some(Val::Result(Ok(None))));
    let (_, method) = name.rsplit_once('.').unwrap_or(("", name));
    match method {
        "check-write" => Ok(Some(Val::Result(Ok(Some(Box::new(Val::U64(WRITE_BYTES))))))),
        "write" | "blocking-write-and-flush" if name.contains("output-stream") => {
            if let Some(Val::List(bytes)) = params.get(1) {
                for byte in bytes {
                    if let Val::U8(byte) = byte {
                        store.data_mut().print(*byte);
                    }
                }
            }
            done
        }
        "flush" | "blocking-flush" => done,
        "get-random-bytes" | "get-insecure-random-bytes" => {
            let Some(Val::U64(count)) = params.first() else { bail!("no length") };
            if *count > MAX_RANDOM {
                bail!("it asks for more than {MAX_RANDOM} random bytes");
            }
            let mut bytes = vec![0; usize::try_from(*count)?];
            store.data_mut().fill(&mut bytes);
            Ok(Some(Val::List(bytes.into_iter().map(Val::U8).collect())))
        }
        "get-random-u64" | "get-insecure-random-u64" => {
            let mut bytes = [0; 8];
            store.data_mut().fill(&mut bytes);
            Ok(Some(Val::U64(u64::from_le_bytes(bytes))))
        }
        "ready" => Ok(Some(Val::Bool(true))),
        "poll" => {
            let count = if let Some(Val::List(all)) = params.first() { all.len() } else { 0 };
            let all = (0..u32::try_from(count)?).map(Val::U32).collect();
            Ok(Some(Val::List(all)))
        }
        "exit" | "exit-with-code" => bail!("it called `exit`"),
        _ => Ok(None),
    }
}

/// The emptiest value of a type: none, an empty list, zero, an error.
fn nothing(store: &mut StoreContextMut<'_, State>, ty: &Type) -> Result<Val> {
    Ok(match ty {
        Type::Bool => Val::Bool(false),
        Type::S8 => Val::S8(0),
        Type::U8 => Val::U8(0),
        Type::S16 => Val::S16(0),
        Type::U16 => Val::U16(0),
        Type::S32 => Val::S32(0),
        Type::U32 => Val::U32(0),
        Type::S64 => Val::S64(0),
        Type::U64 => Val::U64(0),
        Type::Float32 => Val::Float32(0.0),
        Type::Float64 => Val::Float64(0.0),
        Type::Char => Val::Char(' '),
        Type::String => Val::String(String::new()),
        Type::List(_) => Val::List(Vec::new()),
        Type::Option(_) => Val::Option(None),
        Type::Flags(_) => Val::Flags(Vec::new()),
        Type::Enum(it) => Val::Enum(it.names().next().unwrap_or_default().to_owned()),
        Type::Record(it) => {
            let mut fields = Vec::new();
            for field in it.fields() {
                fields.push((field.name.to_owned(), nothing(store, &field.ty)?));
            }
            Val::Record(fields)
        }
        Type::Tuple(it) => {
            let items = it.types().map(|ty| nothing(store, &ty));
            Val::Tuple(items.collect::<Result<_>>()?)
        }
        Type::Variant(it) => {
            // A case without content where there is one: `closed` of a stream.
            let plain = it.cases().find(|case| case.ty.is_none());
            let Some(Case { name, ty }) = plain.or_else(|| it.cases().next()) else {
                bail!("a variant without cases");
            };
            let content = ty.map(|ty| nothing(store, &ty)).transpose()?;
            Val::Variant(name.to_owned(), content.map(Box::new))
        }
        Type::Result(it) => {
            let content = it.err().map(|ty| nothing(store, &ty)).transpose()?;
            Val::Result(Err(content.map(Box::new)))
        }
        Type::Own(_) => {
            let inert: Resource<Inert> = Resource::new_own(0);
            Val::Resource(ResourceAny::try_from_resource(inert, store.as_context_mut())?)
        }
        _ => bail!("a type that WASI 0.2 does not have"),
    })
}

/// Ends what was lent or given.
fn let_go(store: &mut StoreContextMut<'_, State>, value: &Val) -> Result<()> {
    match value {
        Val::Resource(resource) => resource.resource_drop(store.as_context_mut()),
        Val::List(items) | Val::Tuple(items) => {
            items.iter().try_for_each(|item| let_go(store, item))
        }
        Val::Option(Some(inner)) | Val::Result(Ok(Some(inner))) => let_go(store, inner),
        _ => Ok(()),
    }
}
