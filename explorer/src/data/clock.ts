/** The clock of what stands beside a flow: times of one as times of the other. */

/** A time t of it is `rate * t + shift` on the clock of the flow that is shown; seconds. */
export interface Clock {
  rate: number;
  shift: number;
}

export const SAME: Clock = { rate: 1, shift: 0 };

export function toShown({ rate, shift }: Clock, t: number): number {
  return rate * t + shift;
}

export function fromShown({ rate, shift }: Clock, t: number): number {
  return (t - shift) / rate;
}

/** What the shown flow's clock is to the other one. */
export function inverse({ rate, shift }: Clock): Clock {
  return { rate: 1 / rate, shift: -shift / rate };
}
