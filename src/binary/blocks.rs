//! Basic blocks of one function, and its loops.

use std::collections::BTreeSet;

use super::{Flow, Instruction, JumpTable};

/// The blocks of a function, in the order of their addresses.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    pub blocks: Vec<Block>,
    /// Blocks that can be reached from the first, each before those that follow it, but along backward edges.
    pub order: Vec<usize>,
    /// Place of each block in `order`; `None` where nothing leads to it.
    rank: Vec<Option<usize>>,
}

/// Instructions that run one after the other.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Index of its first instruction.
    pub first: usize,
    /// Index past its last.
    pub end: usize,
    /// Blocks that may follow.
    pub next: Vec<usize>,
    /// Blocks that it may follow.
    pub previous: Vec<usize>,
}

impl Blocks {
    /// Cuts a function into blocks; `tables` says where jumps through a table lead.
    pub fn new(instructions: &[Instruction], tables: &[JumpTable]) -> Blocks {
        let index_of = |address: u64| instructions.binary_search_by_key(&address, Instruction::address).ok();
        let targets = |index: usize| -> Vec<usize> {
            match instructions[index].flow() {
                Flow::Jump(target) | Flow::Branch(target) => index_of(target).into_iter().collect(),
                Flow::IndirectJump(_) => {
                    let at = instructions[index].address();
                    let table = tables.iter().find(|table| table.jump == at);
                    table
                        .into_iter()
                        .flat_map(|table| &table.targets)
                        .filter_map(|to| index_of(*to))
                        .collect()
                }
                _ => Vec::new(),
            }
        };
        let ends = |index: usize| {
            !matches!(instructions[index].flow(), Flow::Next | Flow::Call(_) | Flow::IndirectCall(_))
        };
        let mut firsts: BTreeSet<usize> = (!instructions.is_empty()).then_some(0).into_iter().collect();
        for index in (0..instructions.len()).filter(|&index| ends(index)) {
            firsts.extend(targets(index));
            firsts.extend((index + 1 < instructions.len()).then_some(index + 1));
        }
        let firsts: Vec<usize> = firsts.into_iter().collect();
        let ends_at = firsts.iter().skip(1).copied().chain([instructions.len()]);
        let mut blocks: Vec<Block> = firsts
            .iter()
            .zip(ends_at)
            .map(|(&first, end)| Block { first, end, next: Vec::new(), previous: Vec::new() })
            .collect();
        let block_of = |index: usize| firsts.partition_point(|&first| first <= index) - 1;
        for number in 0..blocks.len() {
            let last = blocks[number].end - 1;
            let falls = match instructions[last].flow() {
                Flow::Jump(_) | Flow::IndirectJump(_) | Flow::Return | Flow::Stop => None,
                _ => Some(number + 1).filter(|&next| next < blocks.len()),
            };
            let next: BTreeSet<usize> = targets(last).into_iter().map(block_of).chain(falls).collect();
            for &next in &next {
                blocks[next].previous.push(number);
            }
            blocks[number].next = next.into_iter().collect();
        }
        let (order, rank) = reverse_post_order(&blocks);
        Blocks { blocks, order, rank }
    }

    /// The block that holds an instruction.
    pub fn of(&self, instruction: usize) -> usize {
        self.blocks.partition_point(|block| block.first <= instruction) - 1
    }

    /// Whether an edge leads backward (or nowhere that is reached): those close loops.
    pub fn is_backward(&self, from: usize, to: usize) -> bool {
        match (self.rank[from], self.rank[to]) {
            (Some(from), Some(to)) => to <= from,
            _ => true,
        }
    }

    /// The smallest loop around a block: its first block, and all of its blocks. A loop is what lies between the target
    /// of a backward edge and its source (a natural loop; Aho, Lam, Sethi and Ullman, section 9.6.6).
    pub fn loop_around(&self, block: usize) -> Option<(usize, BTreeSet<usize>)> {
        let edges = self.order.iter().flat_map(|&from| {
            let back = self.blocks[from].next.iter().filter(move |&&to| self.is_backward(from, to));
            back.map(move |&to| (from, to))
        });
        let loops = edges.filter_map(|(from, header)| {
            let mut members = BTreeSet::from([header]);
            let mut rest = vec![from];
            while let Some(member) = rest.pop() {
                if self.rank[member].is_some() && members.insert(member) {
                    rest.extend(&self.blocks[member].previous);
                }
            }
            members.contains(&block).then_some((header, members))
        });
        loops.min_by_key(|(_, members)| members.len())
    }
}

fn reverse_post_order(blocks: &[Block]) -> (Vec<usize>, Vec<Option<usize>>) {
    let mut order = Vec::new();
    let mut seen = vec![false; blocks.len()];
    // Block and how many of its successors were visited; a stack of our own, as functions may have 100,000 blocks.
    let mut stack: Vec<(usize, usize)> = Vec::new();
    if let Some(first) = seen.first_mut() {
        *first = true;
        stack.push((0, 0));
    }
    while let Some((block, visited)) = stack.pop() {
        match blocks[block].next.get(visited) {
            Some(&next) => {
                stack.push((block, visited + 1));
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push((next, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    let mut rank = vec![None; blocks.len()];
    order.iter().enumerate().for_each(|(place, &block)| rank[block] = Some(place));
    (order, rank)
}
