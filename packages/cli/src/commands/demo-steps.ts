/** The steps of the demo: a proposal or an approval with its ruling, as a report and as text. */

import { bold, green, type Printable, red, yellow } from '@assize/command';
import type { Ruling } from 'assize/internal/runtime';

/** One proposal, or the counselor's approval, with its outcome. */
export interface DemoStep {
  readonly seq: number;
  readonly entry_id: string;
  readonly at: string;
  readonly principal: string;
  readonly role: string;
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly ruling: Ruling['ruling'];
  readonly invariant_id?: string;
  readonly detail?: string;
  /** The seq of the pending entry that the approval resolves. */
  readonly resolves?: number;
  /** Whether the ruling matches the story. */
  readonly as_told: boolean;
}

export const COMMITTED = 'committed';

/** `becomes`: the expected ruling, or the deciding invariant. */
export function stepOf(ruling: Ruling, becomes: string, at: string) {
  if (ruling.ruling === 'frozen') throw new Error(`The story cannot continue: ${ruling.detail}`);
  const { id: entry_id, seq } = ruling.entry;
  const found = { seq, entry_id, at, ruling: ruling.ruling };
  if (ruling.ruling === 'committed') return { ...found, as_told: becomes === COMMITTED };
  const { detail, invariantId } = ruling;
  const decided = invariantId === undefined ? {} : { invariant_id: invariantId };
  return { ...found, ...decided, detail, as_told: becomes === invariantId };
}

/** Nine o'clock in Arizona, which is seven hours behind UTC all year. */
export function nineOClock(day: string): string {
  return `${day}T16:00:00.000000Z`;
}

const PAINT: Readonly<Record<Ruling['ruling'], (text: string) => Printable>> = {
  committed: green,
  rejected: red,
  escalated: yellow,
  frozen: yellow,
};

/** `more`: printed after the proposal. */
export function tellStep(tell: (line: string) => void, step: DemoStep, more = ''): void {
  const { seq, principal, role, action, args, ruling, invariant_id, detail, resolves, as_told } =
    step;
  const what =
    resolves === undefined ? `${action} ${short(args)}` : `approves #${resolves}, which commits it`;
  const number = `#${seq}`.padStart(4);
  tell(
    `${number} ${PAINT[ruling](ruling.padEnd(10)).text} ${principal.padEnd(15)}${role.padEnd(9)} ${what}${more}`,
  );
  if (detail !== undefined) tell(`     ${bold(invariant_id ?? ruling).text} ${detail}`);
  if (!as_told) tell(red('     The story expects another outcome.').text);
}

/** Short arguments: `test=d2 tier=90+`, quoted if a value contains a space. */
export function short(args: Readonly<Record<string, unknown>>): string {
  return Object.entries(args)
    .map(
      ([name, value]) => `${name}=${String(value).includes(' ') ? JSON.stringify(value) : value}`,
    )
    .join(' ');
}
