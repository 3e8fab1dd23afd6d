//! How likely Kubernetes deletes each possible pod: its own sort, run over many lists of the same pods in random order.

use crate::go_sort::{Random, SHORT, go_sort, insertion_sort};
use crate::predict::Step;
use crate::select::numbered;
use crate::sort::{exchange, runs, sort};
use crate::{Error, Pod, Policy, Prediction};
use core::cell::Cell;
use core::num::NonZeroU16;
use core::ops::Range;

/// How many lists [`Policy::probabilities`] sorts by default if it samples.
const SAMPLES: NonZeroU16 = NonZeroU16::new(1 << 12).unwrap();

/// The state with which the generator of random lists starts: the same in every call, so that equal pods get equal
/// probabilities.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The largest group of pods of which every list is tried.
const ENUMERABLE: usize = 7;

/// How likely a pod is deleted: in `deleted` of `samples` lists, whose order nobody outside the controller can know.
/// See [`Policy::probabilities`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Probability {
    /// In how many lists the pod is deleted.
    pub deleted: u32,
    /// Of how many. Pods can have different numbers here. 0 only in the default value.
    pub samples: u32,
    /// The standard error of `deleted / samples` in millionths, because the lists are a sample, or 0 if the probability
    /// is exact.
    pub std_error_ppm: u32,
}

/// While probabilities are found, their memory holds the numbers of classes of pods, so that callers need no buffer for
/// them.
impl Probability {
    const fn run(self) -> u32 {
        self.deleted
    }

    const fn with_run(self, run: u32) -> Self {
        Self { deleted: run, ..self }
    }

    const fn class(self) -> u32 {
        self.std_error_ppm
    }

    const fn with_class(self, class: u32) -> Self {
        Self { std_error_ppm: class, ..self }
    }
}

/// Scratch memory of [`Policy::probabilities`] and [`Policy::kubernetes_sort`] for one pod. Its contents have no
/// meaning.
pub type ProbabilityScratch = [u64; 4];

/// What Kubernetes' comparator reads of one pod, as small numbers, so that a comparison takes a few instructions.
#[derive(Clone, Copy)]
struct Entry(ProbabilityScratch);

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
    fn set(entry: &mut ProbabilityScratch, part: Part, number: u32) {
        let [first, _, _, last] = entry;
        match part {
            Part::Uid => *last |= u64::from(number) << 32,
            Part::Head => *first |= u64::from(number) << 32,
            Part::Tail => *first |= u64::from(number),
        }
    }

    /// What Kubernetes' comparator says: [`Policy::kubernetes_compare`] is `Before`.
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

fn goes_before(a: ProbabilityScratch, b: ProbabilityScratch) -> bool {
    Entry(a).goes_before(Entry(b))
}

/// Sorts entries as Kubernetes does. Each list that is sorted runs through this one copy of the code.
#[inline(never)]
fn sort_as_kubernetes(entries: &mut [ProbabilityScratch]) {
    go_sort(entries, &goes_before);
}

/// What entries can be arranged by. After each, they are in the order of their UIDs, and then of their indices.
#[derive(Clone, Copy)]
enum By {
    Index,
    Uid,
    Head,
    /// [`Probability::run`], and the tail.
    Run,
    /// [`Probability::class`].
    Class,
}

/// Sorts entries by numbers.
#[inline(never)]
fn arrange(entries: &mut [ProbabilityScratch], by: By, probabilities: &[Cell<Probability>]) {
    let at = |entry: Entry| probabilities.get(entry.index() as usize).map(Cell::get).unwrap_or_default();
    let key = |entry: ProbabilityScratch| {
        let [.., uid_and_index] = entry;
        let entry = Entry(entry);
        let first = match by {
            By::Index => entry.index().into(),
            By::Uid => 0,
            By::Head => entry.head(),
            By::Run => u64::from(at(entry).run()) << 32 | u64::from(entry.tail()),
            By::Class => at(entry).class().into(),
        };
        (first, uid_and_index)
    };
    sort(entries, &|a, b| key(a) < key(b));
}

impl Policy {
    /// Sorts a list of pods as kube-controller-manager does: with its comparator, the
    /// [relation](crate::KubernetesOrdering), and with Go's `sort.Sort`. Because the relation is not an order, the
    /// result depends on the order of the list, and on how Go sorts: see [`predict`](Policy::predict) for what does
    /// not.
    ///
    /// `list` has indices of pods, in the order in which the controller lists them, which nobody outside the controller
    /// can know. An index without a pod stays in the list, at no particular place. `scratch` needs one element for each
    /// element of `list`. The call takes O(n log n) steps.
    ///
    /// # Errors
    /// [`Error::ShortBuffer`] if `scratch` is shorter than `list`, and [`Error::TooManyPods`] if the list has
    /// more than `u32::MAX` elements. In that case nothing is written.
    pub fn kubernetes_sort(
        &self,
        pods: &[Pod],
        list: &mut [u32],
        scratch: &mut [ProbabilityScratch],
    ) -> Result<(), Error> {
        if u32::try_from(list.len()).is_err() {
            return Err(Error::TooManyPods);
        }
        let short = Error::ShortBuffer { len: scratch.len(), needed: list.len() };
        let entries = scratch.get_mut(..list.len()).ok_or(short)?;
        self.enter(pods, Some(list), entries);
        arrange(entries, By::Index, &[]);
        sort_as_kubernetes(entries);
        for [.., last] in &mut *entries {
            let index = list.get(low(*last) as usize);
            *last = index.copied().unwrap_or(0).into();
        }
        for (slot, entry) in list.iter_mut().zip(entries) {
            *slot = Entry(*entry).index();
        }
        Ok(())
    }

    /// Returns what [`predict`](Policy::predict) returns, and how likely kube-controller-manager deletes each pod when
    /// it deletes `k` of them: the share of all lists of these pods in which its sort puts the pod among the first `k`.
    ///
    /// `probabilities` gets one element for each pod. Pods that `predict` calls deleted or kept have 1 of 1 and 0 of 1.
    /// The probabilities of possible pods are exact if all of them relate alike to every other pod, and if there are up
    /// to 12 pods, of which up to 7 are possible. Otherwise, they come from `samples` lists, or from 4,096 if that is
    /// 0, drawn by a generator with a fixed seed (xorshift, 13, 7 and 17, from 0x9E3779B97F4A7C15, over the pods by
    /// UID). With 4,096 lists, the standard error is at most 0.8 percentage points. A possible pod that is deleted in
    /// none or in all of these lists is possible all the same. Possible pods that relate alike to every other pod share
    /// their mean.
    ///
    /// The same pods with distinct UIDs have the same probabilities in whatever order `pods` lists them, and on every
    /// machine. All probabilities add up to `k`, or to the number of pods if there are fewer.
    ///
    /// The probabilities hold as long as nothing is known of the list. A controller that scales the same pods down
    /// twice starts from similar lists, so repeating it gives other frequencies. And they hold for one sync at this
    /// `now`, as the deleted pods do.
    ///
    /// `order` gets what `predict` writes. `scratch` is scratch memory. All three need one element per pod. The call
    /// takes O(n log n) steps, and if it samples, `samples` times as many: with 4,096, for 1,000 pods less than a
    /// quarter of a second on a fast machine, and for 20,000 pods more than a second.
    ///
    /// # Errors
    /// [`Error::ShortBuffer`] if `order`, `probabilities` or `scratch` is shorter than `pods`, and
    /// [`Error::TooManyPods`] for more than `u32::MAX` pods. In that case nothing is written.
    ///
    /// ```
    /// use podrank::{Probability, Pod, Policy, Time};
    ///
    /// // Three pods that are alike, and one that goes first.
    /// let mut pods = [Pod::new(); 4];
    /// pods[3].deletion_cost = -1;
    /// let (mut order, mut probabilities, mut scratch) = ([0; 4], [Probability::default(); 4], [[0; 4]; 4]);
    /// let policy = Policy::at(Time::from_unix(1_700_000_600, 0));
    /// let prediction = policy.probabilities(&pods, 2, 0, &mut order, &mut probabilities, &mut scratch).unwrap();
    /// assert_eq!(prediction.deleted(), [3]);
    /// assert_eq!((probabilities[0].deleted, probabilities[0].samples, probabilities[0].std_error_ppm), (1, 3, 0));
    /// ```
    pub fn probabilities<'o>(
        &self,
        pods: &[Pod],
        k: usize,
        samples: u16,
        order: &'o mut [u32],
        probabilities: &mut [Probability],
        scratch: &mut [ProbabilityScratch],
    ) -> Result<Prediction<'o>, Error> {
        let samples = NonZeroU16::new(samples).unwrap_or(SAMPLES);
        let len = order.len().min(probabilities.len()).min(scratch.len());
        let short = Error::ShortBuffer { len, needed: pods.len() };
        let probabilities = probabilities.get_mut(..pods.len()).ok_or(short)?;
        let entries = scratch.get_mut(..pods.len()).ok_or(short)?;
        let prediction = self.predict(pods, k, order, entries.as_flattened_mut())?;
        if !prediction.possible().is_empty() {
            self.enter(pods, None, entries);
            draw(&prediction, samples, Cell::from_mut(probabilities).as_slice_of_cells(), entries);
        }
        for (indices, deleted) in [(prediction.deleted(), 1), (prediction.kept(), 0)] {
            for &index in indices {
                if let Some(probabilities) = probabilities.get_mut(index as usize) {
                    *probabilities = Probability { deleted, samples: 1, std_error_ppm: 0 };
                }
            }
        }
        Ok(prediction)
    }
}

impl Policy {
    /// Fills the entries, one for each pod, or for each element of a list of indices. The index of an entry is its
    /// place in the list. Leaves the entries sorted by UID.
    fn enter(&self, pods: &[Pod], list: Option<&[u32]>, entries: &mut [ProbabilityScratch]) {
        const NO_POD: Pod = Pod::new();
        let pod = |place: u32| {
            let index = list.map_or(Some(place), |list| list.get(place as usize).copied());
            index.and_then(|index| pods.get(index as usize)).unwrap_or(&NO_POD)
        };
        for (entry, place) in entries.iter_mut().zip(0..) {
            *entry = Entry::new(place, pod(place)).0;
        }
        for part in [Part::Head, Part::Tail, Part::Uid] {
            let compare = |a: &ProbabilityScratch, b: &ProbabilityScratch| {
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

/// Finds the probabilities of the possible pods. Those of the others are left with any values.
fn draw(
    prediction: &Prediction<'_>,
    samples: NonZeroU16,
    probabilities: &[Cell<Probability>],
    entries: &mut [ProbabilityScratch],
) {
    classify(probabilities, entries);
    let (possible, quota) = (prediction.possible(), prediction.quota());
    let at = |index: u32| probabilities.get(index as usize);
    let class = |index: u32| at(index).map(|cell| cell.get().class());
    if possible.windows(2).all(|pair| matches!(*pair, [a, b] if class(a) == class(b))) {
        for cell in possible.iter().filter_map(|index| at(*index)) {
            cell.set(Probability { deleted: count(quota), samples: count(possible.len()), std_error_ppm: 0 });
        }
        return;
    }
    for cell in probabilities {
        cell.set(Probability { deleted: 0, ..cell.get() });
    }
    let from = prediction.deleted().len();
    let lists = sort_lists(entries, from, possible.len(), samples, probabilities, |group| {
        for cell in group.iter().take(quota).filter_map(|entry| at(Entry(*entry).index())) {
            cell.set(Probability { deleted: cell.get().deleted.wrapping_add(1), ..cell.get() });
        }
    });
    share(probabilities, entries, lists);
}

/// The lists that were sorted.
#[derive(Clone, Copy)]
struct Lists {
    number: u32,
    /// Whether they are all that there are.
    are_all: bool,
}

impl Lists {
    /// The probability of each of so many pods that are alike, if they are deleted so often together.
    fn probability(self, deleted: u64, pods: usize) -> Probability {
        let samples = u64::from(self.number).wrapping_mul(pods as u64);
        // Both fit 32 bits for up to a million pods that are alike.
        let excess = (samples >> 32).checked_ilog2().map_or(0, |log| log.wrapping_add(1));
        let [deleted, samples] = [deleted, samples].map(|number| low(number >> excess));
        Probability {
            deleted,
            samples,
            std_error_ppm: if self.are_all { 0 } else { standard_error(deleted, samples, self.number) },
        }
    }
}

/// Sorts every list of a short group, or else random lists of all pods, and calls `each` with the group in its sorted
/// order. Its pods stand together from `from` on, whatever the list was.
fn sort_lists(
    entries: &mut [ProbabilityScratch],
    from: usize,
    len: usize,
    samples: NonZeroU16,
    probabilities: &[Cell<Probability>],
    each: impl FnMut(&[ProbabilityScratch]),
) -> Lists {
    let group = from..from.wrapping_add(len);
    if entries.len() <= SHORT && len <= ENUMERABLE {
        sort_as_kubernetes(entries);
        let number = enumerate(entries.get(group).unwrap_or_default(), each);
        Lists { number, are_all: true }
    } else {
        arrange(entries, By::Uid, probabilities);
        sample(entries, group, samples, each);
        Lists { number: samples.get().into(), are_all: false }
    }
}

/// Says which pods relate alike to every other pod: writes the number of the class to the `error` of each.
///
/// They tie. And where the comparator lets the UIDs decide, which it does between different times in one age bucket, no
/// UID of another time is between theirs.
fn classify(probabilities: &[Cell<Probability>], entries: &mut [ProbabilityScratch]) {
    let at = |entry: &ProbabilityScratch| probabilities.get(Entry(*entry).index() as usize);
    arrange(entries, By::Head, probabilities);
    let ready = |entry: &ProbabilityScratch| (Entry(*entry).head(), Entry(*entry).ready_time());
    for (run, alike) in (0..).zip(runs(entries, |a, b| ready(a) == ready(b))) {
        for cell in alike.iter().filter_map(at) {
            cell.set(cell.get().with_run(run));
        }
    }
    arrange(entries, By::Run, probabilities);
    let run = |entry: &ProbabilityScratch| (at(entry).map(|cell| cell.get().run()), Entry(*entry).tail());
    let created = |entry: &ProbabilityScratch| (run(entry), Entry(*entry).creation_time());
    for (class, alike) in (0..).zip(runs(entries, |a, b| created(a) == created(b))) {
        for cell in alike.iter().filter_map(at) {
            cell.set(cell.get().with_class(class));
        }
    }
}

/// Sorts every list of a group. Returns how many lists there are.
#[inline(never)]
fn enumerate(group: &[ProbabilityScratch], mut each: impl FnMut(&[ProbabilityScratch])) -> u32 {
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
    entries: &mut [ProbabilityScratch],
    group: Range<usize>,
    samples: NonZeroU16,
    mut each: impl FnMut(&[ProbabilityScratch]),
) {
    let mut random = Random(SEED);
    for _ in 0..samples.get() {
        // Some places are picked for one more of the 2^32 numbers than others: of 5,000 places, a millionth more often.
        shuffle(entries, |places| low((random.next() >> 32).wrapping_mul(places.into()) >> 32));
        sort_as_kubernetes(entries);
        each(entries.get(group.clone()).unwrap_or_default());
    }
}

/// Shuffles a list: each item changes places with the one that is picked among those up to it.
// On a small machine, its variables would lie below the sort on the stack.
#[cfg_attr(target_os = "none", inline(never))]
fn shuffle(list: &mut [ProbabilityScratch], mut pick: impl FnMut(u32) -> u32) {
    let cells = Cell::from_mut(list).as_slice_of_cells();
    for (last, cell) in numbered(cells) {
        if let Some(other) = cells.get(pick(last.wrapping_add(1)) as usize) {
            exchange(cell, other);
        }
    }
}

/// Gives the pods of each class their mean.
fn share(probabilities: &[Cell<Probability>], entries: &mut [ProbabilityScratch], lists: Lists) {
    let at = |entry: &ProbabilityScratch| probabilities.get(Entry(*entry).index() as usize);
    arrange(entries, By::Class, probabilities);
    let class = |entry: &ProbabilityScratch| at(entry).map(|cell| cell.get().class());
    for class in runs(entries, |a, b| class(a) == class(b)) {
        let goes = class
            .iter()
            .filter_map(at)
            .fold(0, |sum: u64, probabilities| sum.wrapping_add(probabilities.get().deleted.into()));
        for cell in class.iter().filter_map(at) {
            cell.set(lists.probability(goes, class.len()));
        }
    }
}

/// Returns the standard error, in millionths, of probabilities that come from so many lists, up to 65,535. Pods that
/// share their mean have a smaller one than each would have alone.
fn standard_error(goes: u32, of: u32, lists: u32) -> u32 {
    let with = of.checked_div(lists).and_then(|pods| goes.checked_div(pods)).unwrap_or(0);
    // If none of n lists has it, its probabilities are below 3/n with a probability of 95%.
    if with == 0 || with == lists {
        return 3_000_000_u32.checked_div(lists).unwrap_or(0);
    }
    // sqrt(p (1 - p) / n), where p is with/n. Its divisor is n sqrt(n). Both have as many binary places as fit, up to 8: few for
    // many lists, whose root is long.
    let places = lists.leading_zeros().saturating_sub(15).min(8);
    let divisor = lists.wrapping_mul((lists << 16).isqrt()).wrapping_shr(8_u32.wrapping_sub(places));
    let square = with.wrapping_mul(lists.wrapping_sub(with));
    let mut rest = square.wrapping_shl(places.wrapping_mul(2)).isqrt();
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
