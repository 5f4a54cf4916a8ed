/** The numbers of a search for rules, from which the reason of an empty result follows. */
export interface Searched {
  /** The mined runs. */
  readonly runs: number;
  /** Possible rules that were tested, those that the runs obey, and those not obeyed by chance. */
  readonly tested: number;
  readonly obeyed: number;
  readonly significant: number;
  /** The settings of the search. */
  readonly minSupport: number;
  readonly exceptions: number;
}

/** Why a search found no rule, and what to do: too few runs, no support, exceptions, or chance. */
export function whyNone({
  runs,
  tested,
  obeyed,
  significant,
  minSupport,
  exceptions,
}: Searched): string {
  if (runs === 0)
    return 'No run was mined: the trajectories have none, or none of theirs is named as good.';
  const atLeast = `a rule is about at least ${minSupport} runs (minimum support)`;
  if (runs < minSupport)
    return `There are too few runs: ${atLeast}, and ${runs} ${runs === 1 ? 'was' : 'were'} mined. Record more runs, or lower the support.`;
  if (tested === 0)
    return `There is too little support: ${atLeast}, and no tool was called in so many runs, often enough to test a rule. Record more runs.`;
  if (obeyed === 0)
    return `No rule is obeyed: ${possible(tested)} tested, and each has more exceptions than ${percent(exceptions)} % of its cases. Allow more exceptions, or name the good runs.`;
  if (significant === 0)
    return `No rule is significant: ${possible(tested)} tested, and each of the ${obeyed} that the runs obey may hold by chance. Record more runs, or accept a larger chance.`;
  return `There is too little support: ${atLeast}, and no significant rule is. Record more runs, or lower the support.`;
}

function possible(tested: number): string {
  return tested === 1
    ? '1 possible rule was'
    : `${tested.toLocaleString('en')} possible rules were`;
}

function percent(share: number): number {
  return Math.round(share * 1_000) / 10;
}
