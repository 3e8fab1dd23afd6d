// The moments that a slider can choose: from a second after the latest change on, ever faster, because ages count by their
// magnitude. Knows no elements.

const STEPS = 1000;
const SECOND = 1000;
const DAY = 86400 * SECOND;

export class Moments {
    /** Moments after the latest change, with room beyond `now`. */
    constructor(newest, now) {
        this.newest = newest;
        this.span = Math.max((now - newest) * 8, 2 * DAY) / SECOND;
    }

    /** The moment at a share of the slider, from 0 to 1. */
    at = (share) => Math.round(this.newest + SECOND * this.span ** share);

    fromStep = (step) => this.at(step / STEPS);

    toStep = (moment) => Math.round((STEPS * Math.log(Math.max(this.age(moment) / SECOND, 1))) / Math.log(this.span));

    /** Milliseconds since the latest change. */
    age = (moment) => moment - this.newest;
}

export function duration(milliseconds) {
    const seconds = Math.round(milliseconds / SECOND);
    if (seconds < 120) return `${seconds} s`;
    if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
    return seconds < 2 * 86400 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}
