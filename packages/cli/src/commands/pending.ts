import {
  dim,
  EXIT,
  headOf,
  inSession,
  line,
  onlyCounselor,
  project,
  replayerOf,
  type Session,
  type SharedOptions,
  shownWords,
  withSharedOptions,
  yellow,
} from '@assize/command';
import type { Json } from 'assize/internal/base';
import {
  approvalsOf,
  type Halt,
  isEffectPending,
  isExpired,
  type PendingPayload,
} from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import {
  type DomainActions,
  type PendingParts,
  pendingParts,
  pendingView,
  presentationOf,
  shortId,
  shortTime,
  shownOf,
  toolCalls,
} from 'assize/internal/views';
import type { Command } from 'commander';
import { printEffect, printProposal } from '../render/proposal-text.ts';
import { printQuestions, printWithdrawn } from '../render/questions.ts';
import { projectWords } from '../store/project-domains.ts';

interface Options extends SharedOptions {
  readonly channel?: string;
  readonly full?: boolean;
}

/** Maximum number of proposals that are shown in full in text. */
const SHOWN_MAX = 20;

export function pending(program: Command): void {
  withSharedOptions(
    program
      .command('pending')
      .description('list pending proposals and unresolved effects, oldest first in each trajectory')
      .argument('[trajectory]', 'only this trajectory (default: all)')
      .option('--channel <kind>', 'only proposals for this kind of counselor')
      .option('--full', 'in text, show every proposal and every value in full'),
  )
    .addHelpText(
      'after',
      'Calls of agents without a known outcome: assize effects calls.\nNegative: a trajectory does not verify.',
    )
    .action(
      inSession((session, { channel, full = false }: Options, trajectory?: string) =>
        session.withStore('readonly', async (store) => {
          const { open: all, halted } = await openPendings(session, store, trajectory);
          const words = await projectWords(store);
          const asked =
            channel === undefined ? all : all.filter(({ payload }) => payload.channel === channel);
          session.progress.end();
          const now = systemClock.now();
          const open = asked.filter(({ payload }) => !isExpired(payload, now));
          const expired = asked.filter(({ payload }) => isExpired(payload, now));
          if (session.json)
            session.out.document({
              pending: await Promise.all(
                open.map(async (each) =>
                  pendingView(store, each, await words.of(each.payload.trajectory_id)),
                ),
              ),
              expired: expired.map(({ id, payload: { trajectory_id, expires } }) => ({
                id,
                trajectory_id,
                expires,
              })),
              halted,
            });
          else {
            printHalted(session.out, halted);
            await print(session, store, words, open, expired, full);
          }
          return EXIT.ok;
        }),
      ),
    );
}

async function openPendings(session: Session, store: Store, trajectory: string | undefined) {
  if (trajectory !== undefined) await headOf(store, trajectory);
  const all = await store.trajectories();
  const names = trajectory === undefined ? await store.trajectoriesToReview?.() : [trajectory];
  const wanted = names && new Set(names);
  const chosen = all.filter(({ trajectory_id }) => wanted?.has(trajectory_id) ?? true);
  const total = chosen.reduce((sum, { entries }) => sum + entries, 0);
  // Replayed, and not only read: an approver must not see a proposal that was written by hand.
  const replayer = replayerOf(session, store, total);
  const open: Open[] = [];
  const halted: Halted[] = [];
  for (const { trajectory_id } of chosen) {
    const { chain, fold } = await replayer.replay(trajectory_id);
    if (chain.halted !== undefined) halted.push({ trajectory_id, ...chain.halted });
    for (const [id, payload] of chain.open) {
      const parts = await pendingParts(store, replayer.values, { id, payload });
      open.push({ ...parts, state: fold.state as Json });
    }
  }
  return { open, halted };
}

/** A halted trajectory, where only rejections count. */
type Halted = Halt & { readonly trajectory_id: string };

/** A pending proposal, with the current state of its trajectory. */
interface Open extends PendingParts {
  readonly state: Json;
}

function printHalted(out: Session['out'], halted: readonly Halted[]): void {
  for (const { trajectory_id, principal, at, reason } of halted)
    out.line(
      line`${yellow('Halted')}, no approval counts: ${trajectory_id}, by ${principal} since ${shortTime(at)}: ${reason}`,
    );
}

/** An expired proposal waits for no decision: the next proposal or decision records its end. */
function printExpired(out: Session['out'], expired: readonly Open[]): void {
  for (const { id, payload } of expired)
    out.line(
      line`Expired, no decision counts: ${shortId(id)} in ${payload.trajectory_id}, ${payload.proposal.action.name}, until ${shortTime(payload.expires!)}.`,
    );
}

/** The approvals of a proposal that needs more than one: `1 of 2 (dr-a)`. */
function approvalsSoFar(payload: PendingPayload): string[] {
  const { needed, given } = approvalsOf(payload);
  if (needed === 1) return [];
  const names = given.map(({ principal, override }) =>
    override === true ? `${principal} with override` : principal,
  );
  const who = given.length === 0 ? '' : ` (${names.join(', ')})`;
  return [`${given.length} of ${needed}${who}`];
}

async function print(
  { out, again }: Session,
  store: Store,
  words: DomainActions,
  open: readonly Open[],
  expired: readonly Open[],
  isFull: boolean,
): Promise<void> {
  printExpired(out, expired);
  if (open.length === 0) {
    out.line(line`No decision is pending.`);
    return;
  }
  const titles = await Promise.all(
    open.map(async (each) => {
      const asked = { name: each.payload.proposal.action.name, args: each.args };
      const { [asked.name]: action } = await words.of(each.payload.trajectory_id);
      const isSaid = presentationOf(asked, action?.present) !== undefined;
      return { ...each, shown: isSaid ? shownOf(asked, action?.present) : undefined };
    }),
  );
  out.table(
    [
      { title: 'pending' },
      { title: 'trajectory' },
      { title: 'seq', align: 'right', narrow: 'drop' },
      { title: 'at', narrow: 'time' },
      { title: 'until', narrow: 'time' },
      { title: 'action' },
      { title: 'for' },
      { title: 'reason' },
    ],
    titles.map(({ id, payload, shown }) => {
      const { trajectory_id, seq, at, proposal, channel, reason, invariant_id, detail, expires } =
        payload;
      const until = expires === undefined ? 'decided' : shortTime(expires);
      const wanted = [channel, ...approvalsSoFar(payload)].join(', ');
      const why = `${invariant_id ?? reason}: ${detail}`;
      return [
        shortId(id),
        trajectory_id,
        seq,
        shortTime(at),
        until,
        shown === undefined ? proposal.action.name : shownWords(shown.title),
        wanted,
        why,
      ];
    }),
  );
  for (const { id, payload, state, questions, withdrawn, shown } of isFull
    ? titles
    : titles.slice(0, SHOWN_MAX)) {
    const calls = await toolCalls(store, payload.proposal.delta);
    if (isEffectPending(payload)) printEffect(out, id, payload, calls, isFull);
    else printProposal(out, id, payload, calls, state, shown, isFull);
    if (withdrawn === undefined) printQuestions(out, id, questions);
    else printWithdrawn(out, id, withdrawn);
  }
  if (open.every(({ payload }) => isEffectPending(payload))) return;
  out.line(line``);
  const config = project();
  const tools = open.some(({ payload }) => payload.proposal.delta.effects.length > 0)
    ? ' --tools FILE'
    : '';
  const modules = config === undefined ? ' --domain FILE' : '';
  const calls = config === undefined ? tools : '';
  const id = open.length === 1 ? shortId((open[0] as Open).id) : 'ID';
  const by = onlyCounselor(config) ?? 'PRINCIPAL';
  const { publicUrl } = config?.server ?? {};
  if (publicUrl !== undefined)
    out.line(
      dim(
        line`${new URL(`/inbox/${open.length === 1 ? (open[0] as Open).id : ''}`, publicUrl).href}`,
      ),
    );
  out.line(dim(line`assize show ${id}${again}`));
  out.line(dim(line`assize approve ${id} --as ${by}${modules}${calls}${again}`));
  out.line(dim(line`assize reject ${id} --as ${by} --reason TEXT${modules}${again}`));
  if (config === undefined) out.line(dim(line`A shipped domain needs no --domain.`));
}
