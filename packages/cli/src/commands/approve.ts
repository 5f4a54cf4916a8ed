import {
  CliError,
  inSession,
  jsonOption,
  project,
  repeatable,
  requireAnchors,
  withActingOptions,
} from '@assize/command';
import { isAssizeError, type Json } from 'assize/internal/base';
import { AGENTS, AgentStops } from 'assize/internal/config';
import { type EntryRow, type PendingPayload, readRow } from 'assize/internal/ledger';
import { type GivenAnswer, Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import type { Command } from 'commander';
import { answersTo } from '../render/questions.ts';
import { METHOD, type ResolvingOptions, resolvePending } from './resolution.ts';

interface Options extends ResolvingOptions {
  readonly override?: boolean;
  readonly reason?: string;
  readonly answer: readonly string[];
  readonly args?: Json;
}

export function approve(program: Command): void {
  withActingOptions(
    program
      .command('approve')
      .description('approve a pending proposal as a counselor of its domain')
      .argument('<pending>', 'id of the proposal, or its first 8 digits; or TRAJECTORY@SEQ')
      .requiredOption('--as <principal>', 'the approving principal; recorded')
      .option(
        '--override',
        'override the invariants that the result fails and that may be overridden; recorded',
      )
      .option('--reason <text>', 'reason for the approval; recorded')
      .option(
        '--args <json>',
        'approve the proposal with these arguments instead; recorded',
        jsonOption,
      )
      .option(
        '--digest <hex>',
        'digest of the inspected proposal, or its first 8 digits; another digest is refused',
      )
      .addOption(
        repeatable(
          '--answer <choice>',
          'winner of a contradiction: N as numbered by assize pending, REQUEST=N or REQUEST=CLAIM',
        ),
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize approve 1f0c8a77 --as manager:grace\n  assize approve 1f0c8a77 --as dr.grey --answer 2\n  assize approve 1f0c8a77 --as boss:olga --args \'{"amount":40}\'\n\n' +
        'The first 8 digits of a request or claim are enough. An answer to a closed question is refused. If several approvers are needed,\nthe last one answers.\n' +
        'A proposal with tool calls needs its tools, from the config or --tools: the calls run after the commit.\n' +
        'With --args everything is judged again, and the calls follow from the new arguments. Pass all arguments.\n' +
        'An overridden invariant refuses all proposals until the state passes it again.\n' +
        'Negative: the proposal had expired and is rejected, or it is committed and an effect has not ended.\n' +
        'If another approver is needed, the output has the new id of the pending proposal.\n' +
        'A process that can write the store can approve under any name. The recorded method is cli.',
    )
    .action(
      inSession((session, options: Options, pending: string) => {
        const { as: principal, override = false, reason, answer, args } = options;
        return resolvePending(
          session,
          options,
          pending,
          ['committed', 'escalated'],
          async (trajectory, row, digest, store) => {
            await requireActive(store, trajectory, row);
            if (trajectory.id === AGENTS) requireCounselor(principal);
            return trajectory.approvals.approve(row.id, {
              ...(answer.length > 0 && { answers: await answersIn(trajectory, row.id, answer) }),
              principal,
              method: METHOD,
              override,
              ...(reason === undefined ? {} : { reason }),
              ...(args === undefined ? {} : { args }),
              ...digest,
            });
          },
          () => requireAnchors(session.storeUrl, options.anchors),
        );
      }),
    );
}

/**
 * Only a counselor brings an agent back, as at a server. Without a config any name may.
 *
 * @throws CliError `usage`
 */
function requireCounselor(principal: string): void {
  const principals = project()?.principals ?? new Map();
  if (principals.size === 0 || principals.get(principal)?.kinds.includes('counselor')) return;
  throw new CliError(
    'usage',
    `${principal} is not a counselor of the config, and cannot bring back an agent. Pass one with --as.`,
  );
}

/** @throws ConfigError `agent_stopped` for the proposal of an agent that is stopped or paused */
async function requireActive(store: Store, trajectory: Trajectory, row: EntryRow): Promise<void> {
  const { proposal } = readRow(row).payload as PendingPayload;
  const whole = Trajectory.writOf(trajectory, proposal.writ_id);
  if (whole === undefined) return;
  const holders = [whole.writ, ...(whole.chain ?? [])].map(({ subject }) => subject);
  await new AgentStops(store, 0).requireNone(holders);
}

/**
 * Parses the typed answers to the open questions. If no question is open any more, the text is
 * passed on unparsed: the runtime reports why the approval is too late, and never reads the text
 * then.
 */
async function answersIn(
  trajectory: Trajectory,
  id: string,
  typed: readonly string[],
): Promise<GivenAnswer[]> {
  try {
    return answersTo(await trajectory.approvals.questionsOf(id), typed);
  } catch (error) {
    if (!isAssizeError(error, 'not_pending')) throw error;
    return typed.map((text) => ({ request: text, winner: text }));
  }
}
