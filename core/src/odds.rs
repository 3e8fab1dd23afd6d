//! How likely Kubernetes deletes each contested pod: its own sort, run over many lists of the same pods in random order.

use crate::go_sort::{Random, SHORT, go_sort, insertion_sort};
use crate::select::numbered;
use crate::settle::Step;
use crate::sort::{exchange, runs, sort};
use crate::{OrderError, Pod, Policy, Settled};
use core::cell::Cell;
use core::num::NonZeroU16;
use core::ops::Range;

/// How many lists [`Policy::odds`] sorts by default if it samples.
const SAMPLES: NonZeroU16 = NonZeroU16::new(1 << 12).unwrap();

/// The state with which the generator of random lists starts: the same in every call, so that equal pods get equal odds.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The largest group of pods of which every list is tried.
const ENUMERABLE: usize = 7;

/// How likely a pod is deleted: in `goes` of `of` lists, whose order nobody outside the controller can know. See
/// [`Policy::odds`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Odds {
    /// In how many lists the pod is deleted.
    pub goes: u32,
    /// Of how many. Pods can have different numbers here. 0 only in the default value.
    pub of: u32,
    /// The standard error of `goes / of` in millionths, because the lists are a sample, or 0 if the odds are exact.
    pub error: u32,
}

/// Scratch memory of [`Policy::odds`] and [`Policy::upstream_sort`] for one pod. Its contents have no meaning.
pub type OddsScratch = [u64; 4];

/// What Kubernetes' comparator reads of one pod, as small numbers, so that a comparison takes a few instructions.
#[derive(Clone, Copy)]
struct Entry(OddsScratch);

/// A part of an [`Entry`], by which all entries are numbered.
#[derive(Clone, Copy)]
enum Part {
    Uid,
    Head,
    Tail,
}

impl Entry {
    fn new(index: u32, pod: &Pod) -> Self {
        let ready_time = if pod.is_ready() { pod.ready_time.bits() } else { 0 };
        Self([0, ready_time.cast_unsigned(), pod.creation_time.bits().cast_unsigned(), index.into()])
    }

    /// Everything up to the age bucket of the ready time.
    const fn head(self) -> u64 {
        self.0[0] >> 32
    }

    /// From there, everything up to the age bucket of the creation time.
    const fn tail(self) -> u32 {
        low(self.0[0])
    }

    const fn ready_time(self) -> u64 {
        self.0[1]
    }

    const fn creation_time(self) -> u64 {
        self.0[2]
    }

    const fn uid(self) -> u64 {
        self.0[3] >> 32
    }

    const fn index(self) -> u32 {
        low(self.0[3])
    }

    /// Writes the number of one part.
    fn set(entry: &mut OddsScratch, part: Part, number: u32) {
        let [first, _, _, last] = entry;
        match part {
            Part::Uid => *last |= u64::from(number) << 32,
            Part::Head => *first |= u64::from(number) << 32,
            Part::Tail => *first |= u64::from(number),
        }
    }

    /// What Kubernetes' comparator says: [`Policy::upstream`] is `Before`.
    fn goes_before(self, other: Self) -> bool {
        if self.head() != other.head() {
            self.head() < other.head()
        } else if self.ready_time() != other.ready_time() {
            self.uid() < other.uid()
        } else if self.tail() != other.tail() {
            self.tail() < other.tail()
        } else {
            self.creation_time() != other.creation_time() && self.uid() < other.uid()
        }
    }
}

fn goes_before(a: OddsScratch, b: OddsScratch) -> bool {
    Entry(a).goes_before(Entry(b))
}

/// Sorts entries as Kubernetes does. Each list that is sorted runs through this one copy of the code.
#[inline(never)]
fn sort_as_upstream(entries: &mut [OddsScratch]) {
    go_sort(entries, &goes_before);
}

/// What entries can be arranged by. After each, they are in the order of their UIDs, and then of their indices.
#[derive(Clone, Copy)]
enum By {
    Index,
    Uid,
    Head,
    /// The number in [`Odds::goes`], and the tail.
    Run,
    /// The number in [`Odds::error`].
    Class,
}

/// Sorts entries by numbers.
#[inline(never)]
fn arrange(entries: &mut [OddsScratch], by: By, odds: &[Cell<Odds>]) {
    let at = |entry: Entry| odds.get(entry.index() as usize).map(Cell::get).unwrap_or_default();
    let key = |entry: OddsScratch| {
        let [.., uid_and_index] = entry;
        let entry = Entry(entry);
        let first = match by {
            By::Index => entry.index().into(),
            By::Uid => 0,
            By::Head => entry.head(),
            By::Run => u64::from(at(entry).goes) << 32 | u64::from(entry.tail()),
            By::Class => at(entry).error.into(),
        };
        (first, uid_and_index)
    };
    sort(entries, &|a, b| key(a) < key(b));
}

impl Policy {
    /// Sorts a list of pods as kube-controller-manager does: with its comparator, the [relation](crate::Relation), and with Go's
    /// `sort.Sort`. Because the relation is not an order, the result depends on the order of the list, and on how Go sorts: see
    /// [`settle`](Policy::settle) for what does not.
    ///
    /// `list` has indices of pods, in the order in which the controller lists them, which nobody outside the controller can know.
    /// An index without a pod stays in the list, at no particular place. `scratch` needs one element for each element of `list`.
    /// The call takes O(n log n) steps.
    ///
    /// # Errors
    /// [`OrderError::ShortBuffer`] if `scratch` is shorter than `list`, and [`OrderError::TooManyPods`] if the list has more than
    /// `u32::MAX` elements. In that case nothing is written.
    pub fn upstream_sort(
        &self,
        pods: &[Pod],
        list: &mut [u32],
        scratch: &mut [OddsScratch],
    ) -> Result<(), OrderError> {
        if u32::try_from(list.len()).is_err() {
            return Err(OrderError::TooManyPods);
        }
        let short = OrderError::ShortBuffer { len: scratch.len(), pods: list.len() };
        let entries = scratch.get_mut(..list.len()).ok_or(short)?;
        self.enter(pods, Some(list), entries);
        arrange(entries, By::Index, &[]);
        sort_as_upstream(entries);
        for [.., last] in &mut *entries {
            let index = list.get(low(*last) as usize);
            *last = index.copied().unwrap_or(0).into();
        }
        for (slot, entry) in list.iter_mut().zip(entries) {
            *slot = Entry(*entry).index();
        }
        Ok(())
    }

    /// Returns what [`settle`](Policy::settle) returns, and how likely kube-controller-manager deletes each pod when it deletes
    /// `k` of them: the share of all lists of these pods in which its sort puts the pod among the first `k`.
    ///
    /// `odds` gets one element for each pod. Pods that `settle` calls certain or safe have 1 of 1 and 0 of 1. The odds of
    /// contested pods are exact if all of them relate alike to every other pod, and if there are up to 12 pods, of which up to 7
    /// are contested. Otherwise, they come from `samples` lists, or from 4,096 if that is 0, drawn by a generator with a fixed seed
    /// (xorshift, 13, 7 and 17, from 0x9E3779B97F4A7C15, over the pods by UID). With 4,096 lists, the standard error is at most 0.8
    /// percentage points. A contested pod that is deleted in none or in all of these lists is contested all the same. Contested pods that relate alike to every other pod
    /// share their mean.
    ///
    /// The same pods with distinct UIDs have the same odds in whatever order `pods` lists them, and on every machine. All odds
    /// add up to `k`, or to the number of pods if there are fewer.
    ///
    /// The odds hold as long as nothing is known of the list. A controller that scales the same pods down twice starts from
    /// similar lists, so repeating it gives other frequencies. And they hold for one sync at this `now`, as the certain pods do.
    ///
    /// `order` gets what `settle` writes. `scratch` is scratch memory. All three need one element per pod. The call takes
    /// O(n log n) steps, and if it samples, `samples` times as many: with 4,096, for 1,000 pods less than a quarter of a second on a
    /// fast machine, and for 20,000 pods more than a second.
    ///
    /// # Errors
    /// [`OrderError::ShortBuffer`] if `order`, `odds` or `scratch` is shorter than `pods`, and [`OrderError::TooManyPods`] for
    /// more than `u32::MAX` pods. In that case nothing is written.
    ///
    /// ```
    /// use podrank::{Odds, Pod, Policy, Time};
    ///
    /// // Three pods that are alike, and one that goes first.
    /// let mut pods = [Pod::new(); 4];
    /// pods[3].deletion_cost = -1;
    /// let (mut order, mut odds, mut scratch) = ([0; 4], [Odds::default(); 4], [[0; 4]; 4]);
    /// let policy = Policy::at(Time::from_unix(1_700_000_600, 0));
    /// let settled = policy.odds(&pods, 2, 0, &mut order, &mut odds, &mut scratch).unwrap();
    /// assert_eq!(settled.certain(), [3]);
    /// assert_eq!((odds[0].goes, odds[0].of, odds[0].error), (1, 3, 0));
    /// ```
    pub fn odds<'o>(
        &self,
        pods: &[Pod],
        k: usize,
        samples: u16,
        order: &'o mut [u32],
        odds: &mut [Odds],
        scratch: &mut [OddsScratch],
    ) -> Result<Settled<'o>, OrderError> {
        let samples = NonZeroU16::new(samples).unwrap_or(SAMPLES);
        let len = order.len().min(odds.len()).min(scratch.len());
        let short = OrderError::ShortBuffer { len, pods: pods.len() };
        let odds = odds.get_mut(..pods.len()).ok_or(short)?;
        let entries = scratch.get_mut(..pods.len()).ok_or(short)?;
        let settled =
            self.settle(pods, k, order, entries.as_flattened_mut()).map_err(|error| match error {
                OrderError::ShortBuffer { .. } => short,
                other => other,
            })?;
        if !settled.contested().is_empty() {
            self.enter(pods, None, entries);
            draw(&settled, samples, Cell::from_mut(odds).as_slice_of_cells(), entries);
        }
        for (indices, goes) in [(settled.certain(), 1), (settled.safe(), 0)] {
            for &index in indices {
                if let Some(odds) = odds.get_mut(index as usize) {
                    *odds = Odds { goes, of: 1, error: 0 };
                }
            }
        }
        Ok(settled)
    }

    /// Returns how likely kube-controller-manager deletes one pod, given by its index, at every number of deletions at once:
    /// `odds[k - 1]` gets what [`odds`](Policy::odds) finds for this pod if `k` pods are deleted, to the same digit. It costs what
    /// one call of that costs, because each sorted list answers for every `k`.
    ///
    /// `order` gets the indices of all pods in line, as [`groups`](Policy::groups) writes them. `scratch` is scratch memory. All
    /// three need one element per pod. If there is no pod with this index, all odds are 0 of 1.
    ///
    /// # Errors
    /// Those of [`odds`](Policy::odds).
    ///
    /// ```
    /// use podrank::{Odds, Pod, Policy, Time};
    ///
    /// // Three pods that are alike, and one that goes first.
    /// let mut pods = [Pod::new(); 4];
    /// pods[3].deletion_cost = -1;
    /// let (mut order, mut odds, mut scratch) = ([0; 4], [Odds::default(); 4], [[0; 4]; 4]);
    /// let policy = Policy::at(Time::from_unix(1_700_000_600, 0));
    /// policy.odds_of(&pods, 0, &mut order, &mut odds, &mut scratch).unwrap();
    /// assert_eq!(odds.map(|odds| (odds.goes, odds.of)), [(0, 1), (1, 3), (2, 3), (1, 1)]);
    /// ```
    pub fn odds_of(
        &self,
        pods: &[Pod],
        pod: u32,
        order: &mut [u32],
        odds: &mut [Odds],
        scratch: &mut [OddsScratch],
    ) -> Result<(), OrderError> {
        let len = order.len().min(odds.len()).min(scratch.len());
        let short = OrderError::ShortBuffer { len, pods: pods.len() };
        let odds = odds.get_mut(..pods.len()).ok_or(short)?;
        let entries = scratch.get_mut(..pods.len()).ok_or(short)?;
        let groups = self.groups(pods, order, entries.as_flattened_mut()).map_err(|error| match error {
            OrderError::ShortBuffer { .. } => short,
            other => other,
        })?;
        let (mut from, mut certain) = (0, 0_usize);
        for group in groups {
            from = certain;
            certain = from.wrapping_add(group.len());
            if group.contains(&pod) {
                break;
            }
        }
        let group = order.get(from..certain).filter(|group| group.contains(&pod)).unwrap_or_default();
        if group.is_empty() {
            (from, certain) = (usize::MAX, usize::MAX);
        } else if group.len() > 1 {
            self.enter(pods, None, entries);
            draw_one(pod, group, from, Cell::from_mut(odds).as_slice_of_cells(), entries);
        }
        for (k, odds) in (1..).zip(odds) {
            if k <= from || k >= certain {
                *odds = Odds { goes: u32::from(k > from), of: 1, error: 0 };
            }
        }
        Ok(())
    }
}

impl Policy {
    /// Fills the entries, one for each pod, or for each element of a list of indices. The index of an entry is its place in the
    /// list. Leaves the entries sorted by UID.
    fn enter(&self, pods: &[Pod], list: Option<&[u32]>, entries: &mut [OddsScratch]) {
        const NO_POD: Pod = Pod::new();
        let pod = |place: u32| {
            let index = list.map_or(Some(place), |list| list.get(place as usize).copied());
            index.and_then(|index| pods.get(index as usize)).unwrap_or(&NO_POD)
        };
        for (entry, place) in entries.iter_mut().zip(0..) {
            *entry = Entry::new(place, pod(place)).0;
        }
        for part in [Part::Head, Part::Tail, Part::Uid] {
            let compare = |a: &OddsScratch, b: &OddsScratch| {
                let (a, b) = (pod(Entry(*a).index()), pod(Entry(*b).index()));
                match part {
                    Part::Head => self.by_step(Step::ReadyAge, a, b),
                    Part::Tail => self.by_step(Step::CreationAge, a, b),
                    Part::Uid => a.uid.cmp(&b.uid),
                }
            };
            sort(entries, &|a, b| compare(&a, &b).then(Entry(a).index().cmp(&Entry(b).index())).is_lt());
            for (number, equals) in (0..).zip(runs(entries, |a, b| compare(a, b).is_eq())) {
                for entry in equals {
                    Entry::set(entry, part, number);
                }
            }
        }
    }
}

/// Finds the odds of the contested pods. Those of the others are left with any values.
fn draw(settled: &Settled<'_>, samples: NonZeroU16, odds: &[Cell<Odds>], entries: &mut [OddsScratch]) {
    classify(odds, entries);
    let (contested, quota) = (settled.contested(), settled.quota());
    if are_alike(contested, odds) {
        for odds in contested.iter().filter_map(|index| odds.get(*index as usize)) {
            odds.set(Odds { goes: count(quota), of: count(contested.len()), error: 0 });
        }
        return;
    }
    clear(odds);
    let from = settled.certain().len();
    let lists = sort_lists(entries, from, contested.len(), samples, odds, |group| {
        add(odds, group.get(..quota).unwrap_or_default());
    });
    share(odds, entries, lists);
}

/// Finds the odds of one pod of a group that starts at `from` in the line, for each number of deletions that ends in the group:
/// those of `from + 1` at `from`. Those of other numbers are left with any values.
fn draw_one(pod: u32, group: &[u32], from: usize, odds: &[Cell<Odds>], entries: &mut [OddsScratch]) {
    classify(odds, entries);
    let of_group = odds.get(from..from.wrapping_add(group.len())).unwrap_or_default();
    if are_alike(group, odds) {
        for (cell, goes) in of_group.iter().zip(1..) {
            cell.set(Odds { goes, of: count(group.len()), error: 0 });
        }
        return;
    }
    clear(odds);
    let class = |index: u32| odds.get(index as usize).map(|odds| odds.get().error);
    let is_alike = |index: u32| class(index) == class(pod);
    let pods = group.iter().filter(|index| is_alike(**index)).count();
    // At each place of the group, how often one of the pods comes there that are like this one.
    let lists = sort_lists(entries, from, group.len(), SAMPLES, odds, |sorted| {
        for (cell, _) in of_group.iter().zip(sorted).filter(|(_, entry)| is_alike(Entry(**entry).index())) {
            let counted = cell.get();
            cell.set(Odds { goes: counted.goes.wrapping_add(1), ..counted });
        }
    });
    let mut goes = 0_u64;
    for cell in of_group {
        goes = goes.wrapping_add(cell.get().goes.into());
        cell.set(lists.odds(goes, pods));
    }
}

/// Whether all pods of a group relate alike to every other pod.
fn are_alike(group: &[u32], odds: &[Cell<Odds>]) -> bool {
    let class = |index: &u32| odds.get(*index as usize).map(|odds| odds.get().error);
    group.windows(2).all(|pair| matches!(pair, [a, b] if class(a) == class(b)))
}

/// Sets all counts to 0, and keeps the classes.
fn clear(odds: &[Cell<Odds>]) {
    for odds in odds {
        odds.set(Odds { goes: 0, ..odds.get() });
    }
}

/// The lists that were sorted.
#[derive(Clone, Copy)]
struct Lists {
    number: u32,
    /// Whether they are all that there are.
    are_all: bool,
}

impl Lists {
    /// The odds of each of so many pods that are alike, if they go so often together.
    fn odds(self, goes: u64, pods: usize) -> Odds {
        let of = u64::from(self.number).wrapping_mul(pods as u64);
        // Both fit 32 bits for up to a million pods that are alike.
        let excess = (of >> 32).checked_ilog2().map_or(0, |log| log.wrapping_add(1));
        let [goes, of] = [goes, of].map(|number| low(number >> excess));
        Odds { goes, of, error: if self.are_all { 0 } else { standard_error(goes, of, self.number) } }
    }
}

/// Sorts every list of a short group, or else random lists of all pods, and calls `each` with the group in its sorted order. Its
/// pods stand together from `from` on, whatever the list was.
fn sort_lists(
    entries: &mut [OddsScratch],
    from: usize,
    len: usize,
    samples: NonZeroU16,
    odds: &[Cell<Odds>],
    each: impl FnMut(&[OddsScratch]),
) -> Lists {
    let group = from..from.wrapping_add(len);
    if entries.len() <= SHORT && len <= ENUMERABLE {
        sort_as_upstream(entries);
        let number = enumerate(entries.get(group).unwrap_or_default(), each);
        Lists { number, are_all: true }
    } else {
        arrange(entries, By::Uid, odds);
        sample(entries, group, samples, each);
        Lists { number: samples.get().into(), are_all: false }
    }
}

/// Says which pods relate alike to every other pod: writes the number of the class to the `error` of each.
///
/// They tie. And where the comparator lets the UIDs decide, which it does between different times in one age bucket, no UID of
/// another time is between theirs.
fn classify(odds: &[Cell<Odds>], entries: &mut [OddsScratch]) {
    let at = |entry: &OddsScratch| odds.get(Entry(*entry).index() as usize);
    arrange(entries, By::Head, odds);
    let ready = |entry: &OddsScratch| (Entry(*entry).head(), Entry(*entry).ready_time());
    for (goes, alike) in (0..).zip(runs(entries, |a, b| ready(a) == ready(b))) {
        for odds in alike.iter().filter_map(at) {
            odds.set(Odds { goes, ..odds.get() });
        }
    }
    arrange(entries, By::Run, odds);
    let run = |entry: &OddsScratch| (at(entry).map(|odds| odds.get().goes), Entry(*entry).tail());
    let created = |entry: &OddsScratch| (run(entry), Entry(*entry).creation_time());
    for (error, alike) in (0..).zip(runs(entries, |a, b| created(a) == created(b))) {
        for odds in alike.iter().filter_map(at) {
            odds.set(Odds { error, ..odds.get() });
        }
    }
}

/// Sorts every list of a group. Returns how many lists there are.
#[inline(never)]
fn enumerate(group: &[OddsScratch], mut each: impl FnMut(&[OddsScratch])) -> u32 {
    let mut buffer = [[0; 4]; ENUMERABLE];
    let lists = (1..=count(group.len())).fold(1_u32, u32::wrapping_mul);
    for number in 0..lists {
        let list = buffer.get_mut(..group.len()).unwrap_or_default();
        for (entry, from) in list.iter_mut().zip(group) {
            *entry = *from;
        }
        // Each number picks other places.
        let mut rest = number;
        shuffle(list, |places| {
            let pick = rest.checked_rem(places).unwrap_or(0);
            rest = rest.checked_div(places).unwrap_or(0);
            pick
        });
        insertion_sort(list, &goes_before);
        each(list);
    }
    lists
}

/// Sorts random lists of all pods, among which the group is at these places.
#[inline(never)]
fn sample(
    entries: &mut [OddsScratch],
    group: Range<usize>,
    samples: NonZeroU16,
    mut each: impl FnMut(&[OddsScratch]),
) {
    let mut random = Random(SEED);
    for _ in 0..samples.get() {
        // Some places are picked for one more of the 2^32 numbers than others: of 5,000 places, a millionth more often.
        shuffle(entries, |places| low((random.next() >> 32).wrapping_mul(places.into()) >> 32));
        sort_as_upstream(entries);
        each(entries.get(group.clone()).unwrap_or_default());
    }
}

/// Shuffles a list: each item changes places with the one that is picked among those up to it.
// On a small machine, its variables would lie below the sort on the stack.
#[cfg_attr(target_os = "none", inline(never))]
fn shuffle(list: &mut [OddsScratch], mut pick: impl FnMut(u32) -> u32) {
    let cells = Cell::from_mut(list).as_slice_of_cells();
    for (last, cell) in numbered(cells) {
        if let Some(other) = cells.get(pick(last.wrapping_add(1)) as usize) {
            exchange(cell, other);
        }
    }
}

/// Counts that these pods go.
fn add(odds: &[Cell<Odds>], victims: &[OddsScratch]) {
    for odds in victims.iter().filter_map(|victim| odds.get(Entry(*victim).index() as usize)) {
        let counted = odds.get();
        odds.set(Odds { goes: counted.goes.wrapping_add(1), ..counted });
    }
}

/// Gives the pods of each class their mean.
fn share(odds: &[Cell<Odds>], entries: &mut [OddsScratch], lists: Lists) {
    let at = |entry: &OddsScratch| odds.get(Entry(*entry).index() as usize);
    arrange(entries, By::Class, odds);
    let class = |entry: &OddsScratch| at(entry).map(|odds| odds.get().error);
    for class in runs(entries, |a, b| class(a) == class(b)) {
        let goes =
            class.iter().filter_map(at).fold(0, |sum: u64, odds| sum.wrapping_add(odds.get().goes.into()));
        for cell in class.iter().filter_map(at) {
            cell.set(lists.odds(goes, class.len()));
        }
    }
}

/// Returns the standard error, in millionths, of odds that come from so many lists, up to 65,535. Pods that share their mean have a
/// smaller one than each would have alone.
fn standard_error(goes: u32, of: u32, lists: u32) -> u32 {
    let with = of.checked_div(lists).and_then(|pods| goes.checked_div(pods)).unwrap_or(0);
    // If none of n lists has it, its odds are below 3/n with a probability of 95 %.
    if with == 0 || with == lists {
        return 3_000_000_u32.checked_div(lists).unwrap_or(0);
    }
    // sqrt(p (1 - p) / n), where p is with/n. Its divisor is n sqrt(n).
    let divisor = lists.wrapping_mul((lists << 16).isqrt()) >> 8;
    let mut rest = with.wrapping_mul(lists.wrapping_sub(with)).isqrt();
    // Two digits at a time, because small machines have no division of 64 bits.
    (0..3).fold(0_u32, |millionths, _| {
        rest = rest.wrapping_mul(100);
        let digits = rest.checked_div(divisor).unwrap_or(0);
        rest = rest.wrapping_sub(digits.wrapping_mul(divisor));
        millionths.wrapping_mul(100).wrapping_add(digits)
    })
}

/// A number of pods, of which there are up to `u32::MAX`.
fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// The lower half of a word.
#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
const fn low(word: u64) -> u32 {
    word as u32
}
