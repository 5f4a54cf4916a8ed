import {
  CliError,
  EXIT,
  type ExitCode,
  ephemeralWrit,
  green,
  headOf,
  inSession,
  keyOrRoot,
  line,
  type OpeningOptions,
  type Printable,
  readWritFile,
  red,
  requireAnchor,
  type Session,
  type SharedOptions,
  withAssize,
  withOpeningOptions,
  yellow,
} from '@assize/command';
import type { WritChain } from 'assize/host';
import { haltScope, type Writ } from 'assize/internal/authority';
import { isAssizeError } from 'assize/internal/base';
import type { KeyPair } from 'assize/internal/canon';
import { HALT_ACTION } from 'assize/internal/kernel';
import type { Assize, HaltInput, HaltOutcome } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { shortId } from 'assize/internal/views';
import type { Command } from 'commander';

interface Options extends SharedOptions, OpeningOptions {
  readonly all?: boolean;
  readonly end?: boolean;
  readonly reason: string;
  readonly key?: string;
  readonly by?: string;
  readonly principal: string;
}

type Does = 'halt' | 'resume';

/** The result in one trajectory. `skipped`: there was nothing to do. */
interface Outcome {
  readonly trajectory_id: string;
  readonly outcome: 'halted' | 'resumed' | 'rejected' | 'skipped' | 'failed';
  readonly seq?: number;
  readonly entry_id?: string;
  readonly detail?: string;
  readonly propagated: readonly {
    readonly trajectory_id: string;
    readonly applied: boolean;
    readonly error?: string;
  }[];
}

const DONE = { halt: 'halted', resume: 'resumed' } as const;

/** Errors that mean that there is nothing to do in one of all trajectories. */
const NOTHING_TO_DO: ReadonlySet<string> = new Set(['concluded', 'already_done']);

export function halt(program: Command): void {
  withOpeningOptions(
    program
      .command('halt')
      .description('stop all work of the store, or on one trajectory; or end a halt')
      .argument(
        '[trajectory]',
        'only this trajectory; its delegated trajectories adopt it (default: every trajectory)',
      )
      .option('--end', 'end the halt, so that work goes on')
      .option('--all', 'every trajectory; --end needs it or the name of one')
      .option('--reason <text>', 'reason; stays in the ledger', 'none given')
      .option(
        '--key <file>',
        'private key of the holder of --by, or of an anchor (default: the root key of the store)',
      )
      .option(
        '--by <file>',
        'writ that gives the right: it names assize.halt and halt:TRAJECTORY or halt:**',
      )
      .option(
        '--principal <name>',
        'without --by: the principal, subject of the short-lived writ',
        'operator',
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize halt\n  assize halt orders --reason "double payments"\n  assize halt --end orders\n\n' +
        'Negative: the halt was not recorded or not ended, or a delegated trajectory did not adopt it; repeat the command to retry.\n' +
        'Revocations, rejections and outcomes of effects are still recorded. Calls of committed transactions end.\n' +
        'An agent reports the outcome of a call in flight after the halt. To stop one agent only: assize agents pause.\n' +
        'A halt that the delegating trajectory made is ended there.',
    )
    .action(
      inSession((session, options: Options, trajectoryId?: string) => {
        const { all = false, end = false } = options;
        if (trajectoryId === undefined ? end && !all : all)
          throw new CliError('usage', 'Name one trajectory, or pass --all.');
        const does = end ? 'resume' : 'halt';
        const key = keyOrRoot(session.storeUrl, options);
        const held = heldWrit(session, options, key);
        return session.withStore('existing', async (store) => {
          const outcomes: Outcome[] = [];
          await withAssize(store, session.storeUrl, options, async (assize) => {
            const names = trajectoryId === undefined ? await allOf(assize) : [trajectoryId];
            for (const name of names) {
              const writ = held ?? (await ownWrit(store, name, options, key));
              const changing = changed(assize, name, does, { reason: options.reason, writ });
              outcomes.push(
                await (trajectoryId === undefined
                  ? changing.catch((error) => failed(name, error))
                  : changing),
              );
            }
          });
          return say(session, outcomes);
        });
      }),
    );
}

async function allOf(assize: Assize): Promise<string[]> {
  return (await assize.trajectories()).map(({ trajectory_id }) => trajectory_id);
}

/** The given writ, if its holder owns the key; undefined without one. @throws CliError */
function heldWrit(
  { storeUrl }: Session,
  { by, anchors }: Options,
  key: KeyPair,
): WritChain | undefined {
  if (by === undefined) {
    requireAnchor(storeUrl, anchors, key, 'to halt without --by');
    return undefined;
  }
  const held = readWritFile(by);
  if (held.writ.subject === key.publicKey) return held;
  throw new CliError(
    'usage',
    `The key does not belong to ${held.writ.subject}, the holder of the writ in ${by}. Pass the private key of the holder.`,
  );
}

/** A root writ for one trajectory only. */
async function ownWrit(
  store: Store,
  name: string,
  { principal }: Options,
  key: KeyPair,
): Promise<Writ> {
  const what = { action: HALT_ACTION, scopes: [haltScope(name)], principal };
  return ephemeralWrit(await headOf(store, name), what, key);
}

async function changed(
  assize: Assize,
  trajectory_id: string,
  does: Does,
  input: HaltInput,
): Promise<Outcome> {
  const { ruling, propagated }: HaltOutcome = await (await assize.open(trajectory_id))[does](input);
  if (ruling.ruling === 'frozen') throw new Error('A halt is never frozen.');
  const { seq, id } = ruling.entry;
  return {
    trajectory_id,
    outcome: ruling.ruling === 'committed' ? DONE[does] : 'rejected',
    seq,
    entry_id: id,
    ...(ruling.ruling === 'rejected' && { detail: ruling.detail }),
    propagated: propagated.map(({ trajectoryId, error }) => ({
      trajectory_id: trajectoryId,
      applied: error === undefined,
      ...(error && { error: error.message }),
    })),
  };
}

function failed(trajectory_id: string, error: unknown): Outcome {
  if (!isAssizeError(error)) throw error;
  const outcome = NOTHING_TO_DO.has(error.code) ? 'skipped' : 'failed';
  return { trajectory_id, outcome, detail: error.message, propagated: [] };
}

function say({ json, out }: Session, trajectories: readonly Outcome[]): ExitCode {
  if (json) out.document({ trajectories });
  else for (const one of trajectories) for (const text of linesOf(one)) out.line(text);
  const isGood = ({ outcome, propagated }: Outcome): boolean =>
    outcome !== 'rejected' && outcome !== 'failed' && propagated.every(({ applied }) => applied);
  return trajectories.every(isGood) ? EXIT.ok : EXIT.negative;
}

function linesOf({
  trajectory_id,
  outcome,
  seq,
  entry_id = '',
  detail = '',
  propagated,
}: Outcome): Printable[] {
  const isGood = outcome !== 'rejected' && outcome !== 'failed';
  const how = isGood ? green(outcome) : red(outcome);
  const by = seq === undefined ? '' : line` by ${shortId(entry_id)}, seq ${seq}`;
  const why = detail === '' ? '' : line`: ${detail}`;
  return [
    line`${how} ${trajectory_id}${by}${why}`,
    ...propagated.map(({ trajectory_id: child, error }) =>
      error === undefined
        ? line`  applied in ${child}`
        : line`  not yet applied in ${yellow(child)}: ${error}`,
    ),
  ];
}
