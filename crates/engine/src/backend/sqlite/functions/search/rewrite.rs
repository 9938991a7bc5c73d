//! `ts_rewrite`: parts of a query replaced by others.

use std::cmp::Ordering;

use rowferry_dialect::stack::deeper;
use rowferry_dialect::values::search::query::compare_words;
use rowferry_dialect::values::search::{Item, Query};
use rowferry_dialect::{Result, work};

/// A part of a query; `&` and `|` may have many operands.
#[derive(Clone, Debug)]
struct Node {
    item: Item,
    /// In PostgreSQL's order: the right one first.
    children: Vec<Node>,
    /// It was put there and is not looked at again.
    new: bool,
}

fn tree(query: &Query, at: usize) -> Result<Node> {
    let item = query.items()[at].clone();
    let mut children = Vec::with_capacity(item.operands());
    if item.operands() > 0 {
        children.push(deeper(|| tree(query, at + 1))?);
    }
    if item.operands() > 1 {
        children.push(deeper(|| tree(query, query.left(at)))?);
    }
    Ok(Node { item, children, new: false })
}

fn is_flat(item: &Item) -> bool {
    matches!(item, Item::And | Item::Or)
}

impl Node {
    /// Operands of an operand with the same operator become the operator's own.
    fn flatten(&mut self) -> Result<()> {
        for child in &mut self.children {
            deeper(|| child.flatten())?;
        }
        if is_flat(&self.item) {
            let children = std::mem::take(&mut self.children);
            for child in children {
                if child.item == self.item { self.children.extend(child.children) } else { self.children.push(child) }
            }
            // Of a long chain each link moves all behind it.
            work::step(self.children.len())?;
        }
        Ok(())
    }

    fn sort(&mut self) -> Result<()> {
        for child in &mut self.children {
            deeper(|| child.sort())?;
        }
        if is_flat(&self.item) {
            work::step(self.children.len())?;
            self.children.sort_by(compare);
        }
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.new = false;
        for child in &mut self.children {
            deeper(|| child.clear())?;
        }
        Ok(())
    }

    /// Makes two operands of many, in the order in which PostgreSQL does.
    fn pair(&mut self) {
        while self.children.len() > 2 {
            let second = self.children.swap_remove(1);
            let first = std::mem::replace(&mut self.children[0], Self::stop());
            let pair = Self { item: self.item.clone(), children: vec![first, second], new: false };
            self.children[0] = pair;
        }
    }

    fn stop() -> Self {
        Self { item: Item::Stop, children: Vec::new(), new: false }
    }

    /// The query again, each operator behind its operands.
    fn push(mut self, items: &mut Vec<Item>) -> Result<()> {
        self.pair();
        for child in self.children.into_iter().rev() {
            deeper(|| child.push(items))?;
        }
        items.push(self.item);
        Ok(())
    }
}

fn code(item: &Item) -> u8 {
    match item {
        Item::Word { .. } | Item::Stop => 0,
        Item::Not => 1,
        Item::And => 2,
        Item::Or => 3,
        Item::Phrase(_) => 4,
    }
}

fn compare(one: &Node, other: &Node) -> Ordering {
    match (&one.item, &other.item) {
        (Item::Word { word, .. }, Item::Word { word: second, .. }) => return compare_words(word, second),
        (Item::Word { .. }, _) => return Ordering::Greater,
        (_, Item::Word { .. }) => return Ordering::Less,
        _ => {}
    }
    let mut order = code(&other.item).cmp(&code(&one.item));
    if order.is_eq() {
        order = other.children.len().cmp(&one.children.len());
    }
    for (one, other) in one.children.iter().zip(&other.children) {
        if order.is_ne() {
            break;
        }
        order = deeper(|| Ok(compare(one, other))).unwrap_or(Ordering::Equal);
    }
    match (&one.item, &other.item) {
        (Item::Phrase(one), Item::Phrase(other)) if order.is_eq() => other.cmp(one),
        _ => order,
    }
}

/// The node itself, or what stands in its place.
fn replaced(mut node: Node, wanted: &Node, by: Option<&Node>) -> Result<(Option<Node>, bool)> {
    if node.new || code(&node.item) != code(&wanted.item) {
        return Ok((Some(node), false));
    }
    let new = || by.map(|by| Node { new: true, ..by.clone() });
    if node.children.len() == wanted.children.len() {
        return Ok(if compare(&node, wanted).is_eq() { (new(), true) } else { (Some(node), false) });
    }
    if node.children.len() < wanted.children.len() || wanted.children.is_empty() {
        return Ok((Some(node), false));
    }
    // Both lists are in order.
    let mut matched = vec![false; node.children.len()];
    let (mut at, mut found) = (0, 0);
    while at < node.children.len() && found < wanted.children.len() {
        match compare(&node.children[at], &wanted.children[found]) {
            Ordering::Equal => {
                matched[at] = true;
                at += 1;
                found += 1;
            }
            Ordering::Less => at += 1,
            Ordering::Greater => break,
        }
    }
    if found < wanted.children.len() {
        return Ok((Some(node), false));
    }
    let mut matched = matched.into_iter();
    node.children.retain(|_| !matched.next().unwrap_or(false));
    node.children.extend(new());
    node.sort()?;
    Ok((Some(node), true))
}

fn search(node: Node, wanted: &Node, by: Option<&Node>) -> Result<Option<Node>> {
    work::check()?;
    let (node, _) = replaced(node, wanted, by)?;
    let Some(mut node) = node else { return Ok(None) };
    if node.new || node.item.operands() == 0 {
        return Ok(Some(node));
    }
    for child in std::mem::take(&mut node.children) {
        node.children.extend(deeper(|| search(child, wanted, by))?);
    }
    Ok(match node.children.len() {
        0 => None,
        1 if node.item != Item::Not => node.children.pop(),
        _ => Some(node),
    })
}

/// A query on its way.
pub(super) struct Rewriting(Option<Node>);

impl Rewriting {
    pub(super) fn new(query: &Query) -> Result<Self> {
        let mut root = tree(query, 0)?;
        root.flatten()?;
        root.sort()?;
        Ok(Self(Some(root)))
    }

    /// Replaces a part wherever it stands.
    pub(super) fn replace(&mut self, wanted: &Query, by: &Query) -> Result<()> {
        if wanted.is_empty() {
            return Ok(());
        }
        let mut wanted = tree(wanted, 0)?;
        wanted.flatten()?;
        wanted.sort()?;
        let by = if by.is_empty() { None } else { Some(tree(by, 0)?) };
        let Some(root) = self.0.take() else { return Ok(()) };
        self.0 = search(root, &wanted, by.as_ref())?;
        if let Some(root) = &mut self.0 {
            root.clear()?;
            root.flatten()?;
            root.sort()?;
        }
        Ok(())
    }

    pub(super) fn query(self) -> Result<Query> {
        let mut items = Vec::new();
        if let Some(root) = self.0 {
            root.push(&mut items)?;
        }
        Query::from_postfix(items)
    }
}
