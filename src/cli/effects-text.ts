import type { Store } from 'assize';
import { isAssizeError, type Json } from 'assize/canon';
import { isLeft } from 'assize/effects';
import { isEffectPending } from 'assize/ledger';
import type { EffectTransaction, ListedEffect } from 'assize/runtime';
import { blobValue } from './blobs.ts';
import { counted } from './counted.ts';
import { shortId } from './entries.ts';
import type { Output } from './output.ts';
import { dim, line, type Printable, yellow } from './printable.ts';
import { readingAssize } from './runtime.ts';
import { shortJson } from './short-json.ts';

/** Of a name, where there is little room. */
const SHORT = 16;
/** Characters of a residue in text. */
const RESIDUE_SHOWN = 200;

/** A proposal that waits for a person, with what tools are to do when it is approved: nothing of that stands meanwhile. */
export interface WaitingProposal {
  readonly id: string;
  readonly trajectory_id: string;
  readonly calls: number;
}

/**
 * Those there are, of one trajectory or all; or why that can't be said. The ledger has them, and the effect log nothing but attempts that
 * have ended; so what was done is listed also where a trajectory can't be read.
 */
export async function waitingProposals(
  store: Store,
  trajectory: string | undefined,
): Promise<readonly WaitingProposal[] | string> {
  const waiting: WaitingProposal[] = [];
  try {
    const query = trajectory === undefined ? {} : { trajectoryId: trajectory };
    for await (const { trajectoryId, id, payload } of readingAssize(store).pending(query)) {
      const calls = payload.proposal.delta.effects.length;
      if (calls > 0 && !isEffectPending(payload)) waiting.push({ id, trajectory_id: trajectoryId, calls });
    }
    return waiting;
  } catch (error) {
    if (isAssizeError(error, 'invalid_ledger')) return error.message;
    throw error;
  }
}

export function printWaiting(out: Output, waiting: readonly WaitingProposal[] | string): void {
  if (typeof waiting === 'string')
    out.line(line`${yellow('Whether proposals with tools wait can’t be said:')} ${waiting}`);
  else if (waiting.length > 0)
    out.line(
      line`${yellow(counted(waiting.length, 'proposal'))} with tools ${waiting.length === 1 ? 'waits' : 'wait'} for a person: assize pending`,
    );
}

/** What an effect has left that was undone in part: with what was done about that, where its tool mitigates. */
type Residue = { readonly value: Json } | { readonly erased_by: string } | { readonly missing: true };
type Residues = ReadonlyMap<ListedEffect, Residue>;

/** What the store has of them: they are kept by salted hash, and some may be erased. */
export async function residuesOf(store: Store, listed: readonly EffectTransaction[]): Promise<Residues> {
  const effects = listed.flatMap(({ effects }) => effects);
  const found = await Promise.all(
    effects.map(async (effect): Promise<[ListedEffect, Residue][]> => {
      const hash = effect.residue?.$blob;
      if (effect.residue === undefined || hash === undefined) return [];
      const erasedBy = await store.erasedBy(hash);
      if (erasedBy !== undefined) return [[effect, { erased_by: erasedBy }]];
      const value = await blobValue(store, { pointer: '', hash, bytes: effect.residue.bytes, salted: true });
      return [[effect, value === undefined ? { missing: true } : { value }]];
    }),
  );
  return new Map(found.flat());
}

/** As `--json` has one. */
export function described(
  { epoch, trajectoryId, name, principal, writId, phase, entry, cause, ...rest }: EffectTransaction,
  residues: Residues,
) {
  return {
    epoch,
    trajectory_id: trajectoryId,
    transaction: name,
    ...(rest.putUpAs === undefined ? {} : { put_up_as: rest.putUpAs }),
    principal,
    writ: writId,
    phase,
    ...(entry === undefined ? {} : { entry_id: entry }),
    ...(cause === undefined ? {} : { cause }),
    ...(rest.failing === undefined ? {} : { failing: rest.failing }),
    ...(rest.needs === undefined ? {} : { needs: rest.needs }),
    claims: rest.claims.map(({ access, scope }) => ({ access, scope: scope.text })),
    effects: rest.effects.map((listed) => {
      const { undoCost, residue, ...effect } = listed;
      return {
        ...effect,
        ...(residue === undefined ? {} : { residue: { ...residue, ...residues.get(listed) } }),
        ...(undoCost === undefined ? {} : { undo_cost: undoCost }),
        waits_for_person: isLeft(effect.phase),
      };
    }),
  };
}

/** A table, and what it has no room for: what was left, what is kept free, what waits for whom. */
export function printTransactions(out: Output, listed: readonly EffectTransaction[], residues: Residues): void {
  out.table(
    [
      { title: 'epoch', align: 'right' },
      { title: 'n', align: 'right' },
      { title: 'tool' },
      { title: 'effect' },
      { title: 'sink' },
      { title: 'transaction' },
      { title: 'trajectory' },
      { title: 'name' },
    ],
    listed.flatMap(rowsOf),
  );
  const left = listed.flatMap((transaction) => leftBy(transaction, residues));
  if (left.length > 0) out.line(line``);
  for (const text of left) out.line(text);
  const dear = listed
    .filter(({ phase }) => phase !== 'settled' && phase !== 'aborted')
    .flatMap(({ effects }) => effects.flatMap(({ undoCost }) => (undoCost === undefined ? [] : [undoCost])));
  if (dear.length > 0) {
    const amounts = Object.entries(sumOf(dear)).map(([unit, amount]) => `${amount} ${unit}`);
    out.line(line``);
    out.line(line`Kept free in the budgets for undoing: ${amounts.join(', ')}.`);
  }
  const answering = listed.flatMap(({ epoch, needs }) =>
    needs?.domain === undefined ? [] : [{ epoch, ...needs.domain }],
  );
  if (answering.length > 0) out.line(line``);
  for (const { epoch, name, version } of answering)
    out.line(
      line`Transaction ${epoch} has failed, which the domain ${name}@${version} answers for, in a process that has it.`,
    );
  const waiting = listed.flatMap(({ effects }) => effects).filter(({ phase }) => isLeft(phase));
  if (waiting.length === 0) return;
  out.line(line``);
  out.line(
    line`${yellow(counted(waiting.length, 'effect'))} ${waiting.length === 1 ? 'waits' : 'wait'} for a person: assize pending shows the call, --json the key.`,
  );
  out.line(line`See what became of it, and say:`);
  out.line(dim(line`assize effects resolve EPOCH N --as DECISION --by WHO --evidence TEXT`));
}

function sumOf(costs: readonly NonNullable<ListedEffect['undoCost']>[]): { readonly [unit: string]: number } {
  const sum: Record<string, number> = {};
  for (const cost of costs) for (const [unit, amount] of Object.entries(cost)) sum[unit] = (sum[unit] ?? 0) + amount;
  return sum;
}

/** What of the effects of one was not taken back, an effect a line. */
function leftBy({ epoch, effects }: EffectTransaction, residues: Residues): Printable[] {
  return effects.flatMap((effect) => {
    const residue = residues.get(effect);
    return residue === undefined
      ? []
      : [line`${epoch} ${effect.n} ${effect.tool} ${dim('left')} ${residueText(residue)}`];
  });
}

function residueText(residue: Residue): Printable {
  if ('erased_by' in residue) return yellow(line`what was erased by ${shortId(residue.erased_by)}`);
  if ('missing' in residue) return yellow('what the store does not have');
  const { value } = residue;
  if (!isMitigated(value)) return line`${shortJson(value, RESIDUE_SHOWN)}`;
  const { residue: left, mitigated } = value;
  return line`${shortJson(left, RESIDUE_SHOWN)}, ${dim('about which its tool did')} ${shortJson(mitigated, RESIDUE_SHOWN)}`;
}

/** As a residue is kept that a tool's `mitigate` was given. */
function isMitigated(value: Json): value is { readonly mitigated: Json; readonly residue: Json } {
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(value).sort().join() === 'mitigated,residue';
}

function rowsOf({ epoch, trajectoryId, name, putUpAs, phase, cause, effects }: EffectTransaction) {
  const named = putUpAs === undefined ? shortened(name) : `${shortId(name)} (${shortened(putUpAs)})`;
  // Whether it was rejected or waits for a person is no other phase.
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
