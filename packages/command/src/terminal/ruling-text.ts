import type { EffectsStatus, Ruling } from 'assize/internal/runtime';
import { causeOf, rulingView, shortId } from 'assize/internal/views';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../store/session.ts';
import { green, line, type Printable, red, yellow } from './printable.ts';

/** A ruling in one line. */
export function rulingLine(ruling: Ruling): Printable {
  if (ruling.ruling === 'frozen')
    return line`${yellow('frozen')} by ${shortId(ruling.by)}: ${ruling.detail}; nothing is recorded`;
  const { id, seq, trajectory_id } = ruling.entry;
  const place = line`as ${shortId(id)}, ${trajectory_id} seq ${seq}`;
  if (ruling.ruling === 'committed') return line`${green('committed')} ${place}`;
  const { detail, reason, invariantId } = ruling;
  // The reason of a person stands for itself: the rule only asked.
  const why =
    reason === 'counselor_rejected'
      ? line`${detail}`
      : line`${detail} (${causeOf(reason, invariantId) ?? reason})`;
  if (ruling.ruling === 'rejected') return line`${red('rejected')} ${place}: ${why}`;
  return line`${yellow('pending')} for ${ruling.channel} ${place}: ${why}`;
}

/** The misfits of refused arguments, one a line. */
export function findingLines(ruling: Ruling): Printable[] {
  if (ruling.ruling !== 'rejected') return [];
  return (ruling.findings ?? []).map(({ pointer, message }) => line`  args${pointer}: ${message}`);
}

/** The calls of a commit, and the next step if they have not ended. */
export function callLines(ruling: Ruling): Printable[] {
  if (ruling.ruling !== 'committed') return [];
  const { effects = 'settled', calls = [] } = ruling;
  const made = calls.map(({ tool, phase }) => line`${tool} is ${phase}.`);
  return effects === 'settled'
    ? made
    : [...made, unsettledText(effects, calls.length, ruling.entry.trajectory_id)];
}

/** Failed transactions have ended, so only `--all` lists them. */
function unsettledText(
  effects: Exclude<EffectsStatus, 'settled'>,
  calls: number,
  trajectoryId: string,
): Printable {
  const isOne = calls === 1;
  const them = isOne ? 'The call' : 'The calls';
  const list = line`assize effects list ${trajectoryId}`;
  if (effects === 'failed')
    return line`${them} ${isOne ? 'was' : 'were'} ${yellow('not made')}, or undone. See: ${list} --all`;
  if (effects === 'needs_human')
    return line`${them} ${isOne ? 'needs' : 'need'} a ${yellow('human decision')}: ${list}`;
  return line`${them} ${isOne ? 'is' : 'are'} ${yellow('waiting')}. See: ${list}`;
}

/**
 * Prints the ruling on a proposal without calls, and returns the exit code of the command. `more`:
 * members before those of the ruling, in JSON.
 */
export function printRuling(
  { json, out }: Pick<Session, 'json' | 'out'>,
  ruling: Ruling,
  more: object = {},
): ExitCode {
  if (json) out.document({ ...more, ...rulingView(ruling) });
  else for (const text of [rulingLine(ruling), ...findingLines(ruling)]) out.line(text);
  return ruling.ruling === 'committed' ? EXIT.ok : EXIT.negative;
}
