import {
  dim,
  line,
  type Output,
  type Printable,
  readingAssize,
  shortJson,
  yellow,
} from '@assize/command';
import { isAssizeError, type Json } from 'assize/internal/base';
import { isUnresolved } from 'assize/internal/effects';
import { isEffectPending } from 'assize/internal/ledger';
import type { EffectTransaction, ListedEffect } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { counted, type StoredEffectTexts, type StoredText, shortId } from 'assize/internal/views';

/** Maximum number of characters of a name in a narrow column. */
const SHORT = 16;
/** Maximum number of characters of a stored value in text. */
const KEPT_SHOWN = 200;

/**
 * A pending proposal, with the tool calls that follow its approval. None of them is in effect yet.
 */
export interface PendingToolProposal {
  readonly id: string;
  readonly trajectory_id: string;
  readonly calls: number;
}

/**
 * The pending proposals of one trajectory or all, or the reason why they are unavailable. They are
 * in the ledger, and the effect log has only ended attempts. The effects are therefore listed even
 * if a trajectory is unreadable.
 */
export async function pendingToolProposals(
  store: Store,
  trajectory: string | undefined,
): Promise<readonly PendingToolProposal[] | string> {
  const waiting: PendingToolProposal[] = [];
  try {
    const query = trajectory === undefined ? {} : { trajectoryId: trajectory };
    for await (const { trajectoryId, id, payload } of readingAssize(store).pending(query)) {
      const calls = payload.proposal.delta.effects.length;
      if (calls > 0 && !isEffectPending(payload))
        waiting.push({ id, trajectory_id: trajectoryId, calls });
    }
    return waiting;
  } catch (error) {
    if (isAssizeError(error, 'invalid_ledger')) return error.message;
    throw error;
  }
}

/** Whether a transaction is settled. */
export function hasEnded(phase: EffectTransaction['phase']): boolean {
  return phase === 'settled' || phase === 'aborted';
}

export function printWaiting(out: Output, waiting: readonly PendingToolProposal[] | string): void {
  if (typeof waiting === 'string')
    out.line(line`${yellow('Cannot list pending proposals with tools:')} ${waiting}`);
  else if (waiting.length > 0)
    out.line(
      line`${yellow(counted(waiting.length, 'proposal'))} with tools ${waiting.length === 1 ? 'needs' : 'need'} a human decision: assize pending`,
    );
}

/**
 * A table with the column names of `--json` and `effects resolve`. Long details are listed below
 * it: reasons, residues, differing answers, reserved budget, and waits.
 */
export function printTransactions(
  out: Output,
  listed: readonly EffectTransaction[],
  kept: StoredEffectTexts,
): void {
  out.table(
    [
      { title: 'epoch', align: 'right' },
      { title: 'n', align: 'right' },
      { title: 'tool' },
      { title: 'phase' },
      { title: 'sink', narrow: 'drop' },
      { title: 'transaction' },
      { title: 'trajectory', narrow: 'cut' },
      { title: 'name', narrow: 'cut' },
    ],
    listed.flatMap(rowsOf),
  );
  const left = listed.flatMap((transaction) => keptLines(transaction, kept));
  if (left.length > 0) out.line(line``);
  for (const text of left) out.line(text);
  const dear = listed
    .filter(({ phase }) => phase !== 'settled' && phase !== 'aborted')
    .flatMap(({ effects }) =>
      effects.flatMap(({ undoCost }) => (undoCost === undefined ? [] : [undoCost])),
    );
  if (dear.length > 0) {
    const amounts = Object.entries(sumOf(dear)).map(([unit, amount]) => `${amount} ${unit}`);
    out.line(line``);
    out.line(line`Reserved in the budgets for compensation: ${amounts.join(', ')}.`);
  }
  const answering = listed.flatMap(({ epoch, needs }) =>
    needs?.domain === undefined ? [] : [{ epoch, ...needs.domain }],
  );
  if (answering.length > 0) out.line(line``);
  for (const { epoch, name, version } of answering)
    out.line(
      line`Transaction ${epoch} has failed. The domain ${name}@${version} handles the failure, in a process that has it.`,
    );
  const waiting = listed
    .flatMap(({ effects }) => effects)
    .filter(({ phase }) => isUnresolved(phase));
  if (waiting.length === 0) return;
  out.line(line``);
  out.line(
    line`${yellow(counted(waiting.length, 'effect'))} ${waiting.length === 1 ? 'needs' : 'need'} a human decision: assize pending shows the call, --json the key.`,
  );
  out.line(line`Check the outcome at the sink, and record a decision:`);
  out.line(dim(line`assize effects resolve EPOCH N --as DECISION --by OPERATOR --evidence TEXT`));
}

function sumOf(costs: readonly NonNullable<ListedEffect['undoCost']>[]): {
  readonly [unit: string]: number;
} {
  const sum: Record<string, number> = {};
  for (const cost of costs)
    for (const [unit, amount] of Object.entries(cost)) sum[unit] = (sum[unit] ?? 0) + amount;
  return sum;
}

/**
 * The lines of a transaction: why its effects are unresolved, their residues, and effects that were
 * skipped because their answer would differ.
 */
function keptLines({ epoch, effects }: EffectTransaction, kept: StoredEffectTexts): Printable[] {
  return effects.flatMap((effect) => {
    const { residue, differs } = kept.get(effect) ?? {};
    const of = line`${epoch} ${effect.n} ${effect.tool}`;
    const { phase, why } = effect;
    return [
      ...(why === undefined || differs !== undefined || !isUnresolved(phase)
        ? []
        : [line`${of} ${dim('reason:')} ${why}`]),
      ...(residue === undefined
        ? []
        : [line`${of} ${dim('residue:')} ${keptText(residue, residueText)}`]),
      ...(differs === undefined
        ? []
        : [line`${of} ${dim('skipped:')} ${keptText(differs, differenceText)}`]),
    ];
  });
}

function keptText(kept: StoredText, textOf: (value: Json) => Printable): Printable {
  if ('erased_by' in kept) return yellow(line`a value erased by ${shortId(kept.erased_by)}`);
  return 'missing' in kept ? yellow('a value that the store does not have') : textOf(kept.value);
}

function residueText(value: Json): Printable {
  if (!isMitigated(value)) return line`${shortJson(value, KEPT_SHOWN)}`;
  const { residue: left, mitigated } = value;
  return line`${shortJson(left, KEPT_SHOWN)}, ${dim('mitigated with')} ${shortJson(mitigated, KEPT_SHOWN)}`;
}

function differenceText(value: Json): Printable {
  const { told, answer } = value as { readonly told: Json; readonly answer: Json };
  return line`${dim('the body received')} ${shortJson(told, KEPT_SHOWN)}${dim(', and the tool would now answer')} ${shortJson(answer, KEPT_SHOWN)}`;
}

/** The stored form of a residue that a tool's `mitigate` received. */
function isMitigated(value: Json): value is { readonly mitigated: Json; readonly residue: Json } {
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(value).sort().join() === 'mitigated,residue';
}

function rowsOf({
  epoch,
  trajectoryId,
  name,
  submittedAs,
  phase,
  cause,
  effects,
}: EffectTransaction) {
  const named =
    submittedAs === undefined ? shortened(name) : `${shortId(name)} (${shortened(submittedAs)})`;
  // A rejected or pending proposal is not a separate phase.
  const last = [cause === undefined ? phase : `${phase} (${cause})`, trajectoryId, named];
  if (effects.length === 0) return [[epoch, '-', '-', '-', '-', ...last]];
  return effects.map((effect: ListedEffect) => [
    epoch,
    effect.n,
    effect.tool,
    effect.phase,
    effect.class.sink,
    ...last,
  ]);
}

function shortened(name: string): string {
  return name.length > SHORT ? `${name.slice(0, SHORT)}…` : name;
}
