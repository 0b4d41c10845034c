//! Lists every mutant of a source file, in order of position.
use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, GenericArgument, Meta, Pat, ReturnType, Signature, Type, UnOp};

/// One change in one place.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The path below `core/src`.
    pub file: String,
    pub line: usize,
    pub column: usize,
    /// The function around it, with its type.
    pub function: String,
    /// What changes, in words.
    pub change: String,
    /// Whether it changes a whole statement or condition, as if one was forgotten, and not an operator or a value.
    pub is_statement: bool,
    pub edit: Edit,
}

#[derive(Clone, Debug)]
pub enum Edit {
    /// This expression becomes another one.
    Replace(Range<usize>, String),
    /// With the mutant on, a function returns this at once.
    Return(usize, String),
    /// With the mutant on, the pattern that ends here matches nothing.
    NoArm(usize),
    /// With the mutant on, this statement is not executed.
    Skip(Range<usize>),
}

impl Mutant {
    /// A name that is stable: the same change of the same source always has it.
    pub fn name(&self) -> String {
        format!(
            "{}:{}:{}: {}: {}",
            self.file, self.line, self.column, self.function, self.change
        )
    }
}

/// Every mutant of a file.
pub fn mutants(file: &str, source: &str) -> syn::Result<Vec<Mutant>> {
    let mut lister = Lister {
        file,
        source,
        owner: Vec::new(),
        found: Vec::new(),
    };
    lister.visit_file(&syn::parse_file(source)?);
    lister
        .found
        .sort_by_key(|mutant| (mutant.line, mutant.column));
    Ok(lister.found)
}

struct Lister<'a> {
    file: &'a str,
    source: &'a str,
    /// Types, traits and functions around, outermost first.
    owner: Vec<String>,
    found: Vec<Mutant>,
}

impl Lister<'_> {
    fn text(&self, of: &impl Spanned) -> &str {
        &self.source[of.span().byte_range()]
    }

    fn add(&mut self, at: Span, change: String, edit: Edit) {
        self.add_of_kind(false, at, change, edit);
    }

    fn add_statement(&mut self, at: Span, change: String, edit: Edit) {
        self.add_of_kind(true, at, change, edit);
    }

    fn add_of_kind(&mut self, is_statement: bool, at: Span, change: String, edit: Edit) {
        let (start, function) = (at.start(), self.owner.join("::"));
        let (line, column) = (start.line, start.column + 1);
        self.found.push(Mutant {
            file: self.file.to_owned(),
            line,
            column,
            function,
            change,
            is_statement,
            edit,
        });
    }

    fn within(&mut self, owner: String, visit: impl FnOnce(&mut Self)) {
        self.owner.push(owner);
        visit(self);
        self.owner.pop();
    }

    fn function(&mut self, signature: &Signature, body: &Block) {
        if CHECKS.iter().any(|name| signature.ident == name) {
            return;
        }
        self.within(signature.ident.to_string(), |this| {
            if !body.stmts.is_empty() && this.owner.last().is_some_and(|name| name != "default") {
                let values = match &signature.output {
                    ReturnType::Default => vec![String::new()],
                    ReturnType::Type(_, returned) => values(returned),
                };
                for value in values {
                    let told = match value.as_str() {
                        "" => "()".to_owned(),
                        _ => value.replace("crate::mutants::value()", "Default::default()"),
                    };
                    let change = format!("returns `{told}` at once");
                    this.add(
                        signature.ident.span(),
                        change,
                        Edit::Return(body.brace_token.span.open().byte_range().end, value),
                    );
                }
            }
            this.visit_block(body);
        });
    }
}

impl<'ast> Visit<'ast> for Lister<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Fn(function) if compiled(&function.attrs) => {
                self.function(&function.sig, &function.block)
            }
            syn::Item::Impl(of) if compiled(&of.attrs) => {
                let owner = match &of.trait_ {
                    Some((_, name, _)) => format!(
                        "<{} as {}>",
                        short(self.text(&of.self_ty)),
                        short(self.text(name))
                    ),
                    None => short(self.text(&of.self_ty)),
                };
                self.within(owner, |this| visit::visit_item_impl(this, of));
            }
            syn::Item::Trait(of) if compiled(&of.attrs) => self
                .within(of.ident.to_string(), |this| {
                    visit::visit_item_trait(this, of)
                }),
            syn::Item::Mod(module) if compiled(&module.attrs) => {
                visit::visit_item_mod(self, module)
            }
            // All other items have no code, or code that only the compiler executes.
            _ => {}
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        if let syn::ImplItem::Fn(function) = item
            && compiled(&function.attrs)
        {
            self.function(&function.sig, &function.block);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast syn::TraitItem) {
        if let syn::TraitItem::Fn(syn::TraitItemFn {
            attrs,
            sig,
            default: Some(body),
            ..
        }) = item
            && compiled(attrs)
        {
            self.function(sig, body);
        }
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if !has_let(&binary.left) && !has_let(&binary.right) {
            let (left, right) = (
                self.text(&binary.left).to_owned(),
                self.text(&binary.right).to_owned(),
            );
            let was = self.text(&binary.op).to_owned();
            if was == "&&" || was == "||" {
                for (kept, dropped) in [(&left, &right), (&right, &left)] {
                    let change = format!("no `{}`", one_line(dropped));
                    let edit = Edit::Replace(binary.span().byte_range(), kept.clone());
                    self.add_statement(binary.op.span(), change, edit);
                }
            }
            for other in others(&was) {
                let becomes = format!("({left}) {other} ({right})");
                self.add(
                    binary.op.span(),
                    format!("`{other}` for `{was}`"),
                    Edit::Replace(binary.span().byte_range(), becomes),
                );
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if !matches!(unary.op, UnOp::Deref(_)) {
            let change = format!("no `{}`", self.text(&unary.op));
            let becomes = self.text(&unary.expr).to_owned();
            self.add(
                unary.op.span(),
                change,
                Edit::Replace(unary.span().byte_range(), becomes),
            );
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_if(&mut self, choice: &'ast syn::ExprIf) {
        if !has_let(&choice.cond) {
            let was = self.text(&choice.cond).to_owned();
            self.add_statement(
                choice.cond.span(),
                format!("the opposite of `{}`", one_line(&was)),
                Edit::Replace(choice.cond.span().byte_range(), format!("!({was})")),
            );
        }
        visit::visit_expr_if(self, choice);
    }

    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        if let syn::Stmt::Expr(expression, end) = statement
            && can_be_skipped(expression, end.is_some())
        {
            let mut told = one_line(self.text(statement));
            if told.chars().count() > 60 {
                told = told.chars().take(60).chain(['…']).collect();
            }
            self.add_statement(
                statement.span(),
                format!("without `{told}`"),
                Edit::Skip(statement.span().byte_range()),
            );
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_match(&mut self, choice: &'ast syn::ExprMatch) {
        let last = choice
            .arms
            .iter()
            .rposition(|arm| arm.guard.is_none() && matches!(arm.pat, Pat::Wild(_)));
        for (at, arm) in choice
            .arms
            .iter()
            .enumerate()
            .filter(|(_, arm)| compiled(&arm.attrs))
        {
            match &arm.guard {
                Some((_, guard)) if !has_let(guard) => {
                    for value in ["true", "false"] {
                        let change =
                            format!("`{value}` for the guard `{}`", one_line(self.text(guard)));
                        self.add(
                            guard.span(),
                            change,
                            Edit::Replace(guard.span().byte_range(), value.to_owned()),
                        );
                    }
                }
                None if last.is_some_and(|last| at < last) => {
                    let change = format!("no arm `{}`", one_line(self.text(&arm.pat)));
                    self.add(
                        arm.pat.span(),
                        change,
                        Edit::NoArm(arm.pat.span().byte_range().end),
                    );
                }
                _ => {}
            }
        }
        visit::visit_expr_match(self, choice);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if compiled(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    // Only the compiler executes code in these.
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_generic_argument(&mut self, _: &'ast GenericArgument) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }
}

/// Functions that check whether a state is sound. In tests every state is sound, so that a mutant of a check cannot be
/// noticed. Canaries show that the checks work.
const CHECKS: [&str; 3] = ["check", "is_sound", "is_in_order"];

/// The values that a function of this type could return instead.
fn values(returned: &Type) -> Vec<String> {
    let all = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect();
    match returned {
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else {
                return Vec::new();
            };
            let inner = || match &last.arguments {
                syn::PathArguments::AngleBracketed(of) => match of.args.first() {
                    Some(GenericArgument::Type(inner)) => values(inner),
                    _ => Vec::new(),
                },
                _ => vec!["crate::mutants::value()".to_owned()],
            };
            let each = |around: &str| {
                inner()
                    .iter()
                    .map(|value| format!("{around}({value})"))
                    .collect::<Vec<_>>()
            };
            match last.ident.to_string().as_str() {
                "bool" => all(&["true", "false"]),
                "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => all(&["0", "1"]),
                "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => all(&["0", "1", "-1"]),
                "f32" | "f64" => all(&["0.0", "1.0", "-1.0"]),
                "Option" => [all(&["None"]), each("Some")].concat(),
                "Result" => each("Ok"),
                _ => all(&["crate::mutants::value()"]),
            }
        }
        Type::Tuple(tuple) if tuple.elems.is_empty() => all(&["()"]),
        Type::Tuple(tuple) => {
            // Two tuples: the first value of each part, and the last value of each part.
            let parts: Vec<_> = tuple.elems.iter().map(values).collect();
            let of = |part: fn(&[String]) -> Option<&String>| {
                let parts: Option<Vec<_>> = parts.iter().map(|values| part(values)).collect();
                parts.map(|parts| {
                    format!(
                        "({})",
                        parts
                            .iter()
                            .map(|part| part.as_str())
                            .collect::<Vec<_>>()
                            .join(", ")
                    )
                })
            };
            let mut both: Vec<_> = [of(|values| values.first()), of(|values| values.last())]
                .into_iter()
                .flatten()
                .collect();
            both.dedup();
            both
        }
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(_) if reference.mutability.is_some() => all(&["&mut []"]),
            Type::Slice(_) => all(&["&[]"]),
            Type::Path(path) if path.path.is_ident("str") => all(&["\"\"", "\"xyzzy\""]),
            _ => all(&["crate::mutants::leaked()"]),
        },
        _ => Vec::new(),
    }
}

/// The operators that could stand instead, with the `=` of an assignment if there is one.
fn others(operator: &str) -> Vec<String> {
    let (operator, assigns) = match operator {
        "==" | "!=" | "<=" | ">=" => (operator, ""),
        _ => operator
            .strip_suffix('=')
            .map_or((operator, ""), |alone| (alone, "=")),
    };
    let others: &[&str] = match operator {
        "==" => &["!="],
        "!=" => &["=="],
        "<" => &["<=", ">", "=="],
        "<=" => &["<", ">"],
        ">" => &[">=", "<", "=="],
        ">=" => &[">", "<"],
        "&&" => &["||"],
        "||" => &["&&"],
        "+" => &["-", "*"],
        "-" | "*" => &["+", "/"],
        "/" => &["%", "*"],
        "%" => &["/", "+"],
        "&" => &["|", "^"],
        "|" => &["&", "^"],
        "^" => &["|", "&"],
        "<<" => &[">>"],
        ">>" => &["<<"],
        _ => &[],
    };
    others
        .iter()
        .map(|other| format!("{other}{assigns}"))
        .collect()
}

/// Whether a statement can be skipped: not if it leaves a function or a loop, or if it has a value.
fn can_be_skipped(expression: &Expr, has_semicolon: bool) -> bool {
    match expression {
        Expr::If(choice) => has_semicolon || choice.else_branch.is_none(),
        Expr::ForLoop(_) => true,
        _ if !has_semicolon => false,
        Expr::Assign(_) | Expr::Call(_) | Expr::MethodCall(_) => true,
        // Only an assignment with an operator is a statement.
        Expr::Binary(binary) => !matches!(
            binary.op,
            syn::BinOp::And(_) | syn::BinOp::Or(_) | syn::BinOp::Eq(_) | syn::BinOp::Lt(_)
        ),
        _ => false,
    }
}

/// Whether this is a `let` or a chain with one, which only a condition may be.
fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

/// Whether an item with these attributes is compiled with all features, outside of tests.
fn compiled(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .all(|attribute| attribute.parse_args().is_ok_and(|meta| holds(&meta)))
}

fn holds(condition: &Meta) -> bool {
    match condition {
        Meta::List(list) => {
            let parts = list
                .parse_args_with(
                    syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated,
                )
                .unwrap_or_default();
            match condition
                .path()
                .get_ident()
                .map(ToString::to_string)
                .as_deref()
            {
                Some("not") => !parts.iter().any(holds),
                Some("any") => parts.iter().any(holds),
                _ => parts.iter().all(holds),
            }
        }
        Meta::Path(path) => !["test", "canary", "loom"]
            .iter()
            .any(|name| path.is_ident(name)),
        Meta::NameValue(_) => true,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A type without its parameters.
fn short(name: &str) -> String {
    name.split('<').next().unwrap_or(name).to_owned()
}
