import {
  type ActingOptions,
  CliError,
  count,
  dim,
  EXIT,
  type ExitCode,
  green,
  headOf,
  Interrupted,
  inSession,
  line,
  loadDomains,
  loadTools,
  note,
  type Output,
  positive,
  project,
  projectOptions,
  readAnchors,
  readRecoveryKey,
  readWritFile,
  reportingWaits,
  rootRecovery,
  runtimeKeys,
  type Session,
  type SharedOptions,
  untilStopped,
  whenEffectsFree,
  withActingOptions,
  withSharedOptions,
  yellow,
} from '@assize/command';
import { type AssizeError, isAssizeError, isInstance } from 'assize/internal/base';
import { generateKeys } from 'assize/internal/canon';
import { EffectError, isUnresolved } from 'assize/internal/effects';
import { ValueReader } from 'assize/internal/ledger';
import {
  Assize,
  type AssizeOptions,
  type EffectResolution,
  type EffectTransaction,
  type ResolvedEffect,
} from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import {
  counted,
  effectTransactionView,
  type LeftInState,
  leftInState,
  storedTextsOf,
} from 'assize/internal/views';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  hasEnded,
  pendingToolProposals,
  printTransactions,
  printWaiting,
} from '../render/effects-text.ts';
import {
  type GivenRequirements,
  type MissingRequirements,
  missingIn,
  printMissing,
} from '../render/missing-tools.ts';

interface ListOptions extends SharedOptions {
  readonly epoch?: number;
  readonly all?: boolean;
  readonly limit?: number;
  readonly before?: number;
}

type WorkingOptions = SharedOptions & ActingOptions;

interface ResolveOptions extends WorkingOptions {
  readonly as: EffectResolution['as'];
  readonly by: string;
  readonly writ?: string;
  readonly evidence: string;
  readonly confirm?: boolean;
}
const DECISIONS: readonly EffectResolution['as'][] = [
  'applied',
  'undone',
  'did_not_happen',
  'retry',
  'residue',
];
/** Number of transactions per page. */
const PAGE = 50;

export function effects(program: Command): void {
  const command = program
    .command('effects')
    .description('list, recover and resolve the effects of tool transactions');
  list(command);
  recover(command);
  resolve(command);
}

function list(command: Command): void {
  withSharedOptions(
    command
      .command('list')
      .description('list tool transactions with their effects')
      .argument('[trajectory]', 'only this trajectory (default: all)')
      .option('--epoch <n>', 'only this transaction, even if it has ended', positive)
      .option('--all', 'include ended transactions, newest first')
      .option(
        '--limit <n>',
        `with --all: maximum number of transactions (default: ${PAGE})`,
        positive,
      )
      .option('--before <epoch>', 'with --all: only lower epochs', positive),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize effects list\n  assize effects list orders --json\n  assize effects list --epoch 7\n' +
        '  assize effects list --all --limit 10 --before 200\n\n' +
        'The command only reads the log, and does not disturb a running process. It lists the work of that process too.\n' +
        'The column phase is the phase of the effect, and transaction is the phase of its transaction.\n' +
        'open, committed, failing, aborting: in progress, or abandoned and to be finished by assize effects recover. settled: ended.\n' +
        'aborted: compensated, with the reason in brackets. escalated: the proposal is or was pending.\n' +
        'in_doubt: the outcome is unknown. unresolved: the last attempt was refused. Both need a human decision.\n' +
        'intended: in flight. executed: done before the commit. due: runs after the commit. applied: done and permanent. dropped: did nothing.',
    )
    .action(
      inSession(
        (
          session,
          { epoch, all = false, limit = all ? PAGE : undefined, before }: ListOptions,
          trajectory?: string,
        ) =>
          session.withStore('readonly', async (store) => {
            requirePaged(all, epoch, limit ?? before);
            if (trajectory !== undefined) await headOf(store, trajectory);
            const page = { ...(limit && { limit }), ...(before && { before }) };
            const which = { all, ...page, ...(epoch && { epoch }) };
            const query = {
              ...which,
              ...(trajectory !== undefined && { trajectoryId: trajectory }),
            };
            const listed = await runtimeOver(store).effects(query);
            if (epoch !== undefined && listed.length === 0)
              throw new CliError(
                'not_found',
                `The effect log has no transaction ${epoch}. List its transactions with assize effects list --all.`,
              );
            const kept = await storedTextsOf(store, listed);
            const waiting =
              epoch === undefined ? await pendingToolProposals(store, trajectory) : [];
            if (session.json)
              session.out.document({
                transactions: listed.map((each) => effectTransactionView(each, kept)),
                ...(epoch === undefined && {
                  pending_proposals: typeof waiting === 'string' ? null : waiting,
                }),
              });
            else {
              if (listed.length > 0) printTransactions(session.out, listed, kept);
              else if (all)
                session.out.line(
                  line`The effect log has no ${before === undefined ? '' : 'older '}tool transactions.`,
                );
              else session.out.line(line`All tool transactions have ended.`);
              printWaiting(session.out, waiting);
              printInProgress(session.out, listed);
            }
            const last = listed.at(-1);
            if (!session.json && last !== undefined && listed.length === limit)
              session.out.line(dim(line`Older transactions: --before ${last.epoch}`));
            return EXIT.ok;
          }),
      ),
    );
}

/**
 * For transactions that need no human decision: the log does not show whether a process works on
 * them.
 */
function printInProgress(out: Output, listed: readonly EffectTransaction[]): void {
  const going = listed.filter(
    ({ phase, effects }) =>
      phase !== 'settled' &&
      phase !== 'aborted' &&
      !effects.some((each) => isUnresolved(each.phase)),
  );
  if (going.length === 0) return;
  const which = `${going.length === 1 ? 'Transaction' : 'Transactions'} ${going.map(({ epoch }) => epoch).join(', ')}`;
  out.line(line``);
  out.line(
    line`${which} ${going.length === 1 ? 'has' : 'have'} not ended. If no other process is active, recover with the tools, and the recovery key if there is one:`,
  );
  out.line(dim(line`assize effects recover --tools FILE --recovery-key FILE`));
}

/**
 * In shared mode on PostgreSQL, a live process keeps its own transactions. The note explains why
 * they are listed.
 */
function printElsewhere(
  out: Output,
  left: readonly EffectTransaction[],
  { tools, domains, anchors }: MissingRequirements,
): void {
  const lacking = new Set([...[...tools, ...domains].flatMap(({ epochs }) => epochs), ...anchors]);
  const elsewhere = left.filter(
    ({ epoch, effects }) =>
      !lacking.has(epoch) && !effects.some(({ phase }) => isUnresolved(phase)),
  );
  if (elsewhere.length === 0) return;
  const [which, has, it] =
    elsewhere.length === 1 ? ['Transaction', 'has', 'it'] : ['Transactions', 'have', 'them'];
  out.line(line``);
  out.line(
    line`${which} ${elsewhere.map(({ epoch }) => epoch).join(', ')} ${has} not ended: another process works on ${it}. If that process ends first, run the command again.`,
  );
}

function printUnauthenticated(out: Output, left: readonly EffectTransaction[]): void {
  const epochs = left.filter(({ effects }) => effects.some(({ why }) => why === 'unauthenticated'));
  if (epochs.length === 0) return;
  out.line(line``);
  out.line(
    line`A process with another recovery key, or without one, wrote ${counted(epochs.length, 'transaction')}: ${epochs.map(({ epoch }) => epoch).join(', ')}. Check the calls at their sinks, then resolve each with assize effects resolve.`,
  );
}

/** @throws CliError `usage` */
function requirePaged(all: boolean, epoch: number | undefined, paged: number | undefined): void {
  if (all && epoch !== undefined)
    throw new CliError(
      'usage',
      'The options --all and --epoch exclude each other. Pass only one of them.',
    );
  if (!all && paged !== undefined)
    throw new CliError('usage', 'The options --limit and --before need --all. Pass --all too.');
}

function recover(command: Command): void {
  withActingOptions(
    command.command('recover').description('finish the transactions of an ended process'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize effects recover --tools tools.ts\n\n' +
        'The command applies committed transactions and compensates others, each once. An unknown outcome needs a human decision.\n' +
        'failing: an effect failed permanently, and the transaction is compensated. The onFailure of its action needs --domain.\n' +
        'Negative: a transaction has not ended. It needs a human decision, a missing tool or domain, or another process works on it.',
    )
    .action(
      inSession((session, options: WorkingOptions) =>
        session.withStore('existing', async (store) => {
          const before = await runtimeOver(store).effects();
          let failed = 0;
          const onFailed: typeof onRecoveryFailed = (failure) => {
            failed++;
            onRecoveryFailed(failure);
          };
          const given = { ...(await givenBy(options, before)), onFailed };
          const stopped = await withEffects(session, store, options, given, (assize, signal) =>
            assize.recoverEffects(signal),
          ).then(() => undefined, stoppedBy);
          const after = await runtimeOver(store).effects();
          const open = new Set(after.map(({ epoch }) => epoch));
          const ended = before.filter(({ epoch }) => !open.has(epoch));
          if (stopped !== undefined)
            throw new Interrupted(stopped.signal, true, recoveredUntil(ended, after));
          const missing = missingIn(after, given);
          const kept = await storedTextsOf(store, after);
          if (session.json) {
            const unfinished = after.map((each) => effectTransactionView(each, kept));
            session.out.document({ ended: ended.map(({ epoch }) => epoch), unfinished, missing });
          } else {
            session.out.line(line`${green('ended')} ${counted(ended.length, 'transaction')}`);
            if (after.length > 0) printTransactions(session.out, after, kept);
            printMissing(session.out, missing);
            printUnauthenticated(session.out, after);
            if (failed === 0) printElsewhere(session.out, after, missing);
          }
          return after.length === 0 ? EXIT.ok : EXIT.negative;
        }),
      ),
    );
}

function resolve(command: Command): void {
  withActingOptions(
    command
      .command('resolve')
      .description('resolve an effect that is in doubt or unresolved')
      .argument('<epoch>', 'epoch of the transaction, as listed', positive)
      .argument('<n>', 'index of the effect in the transaction, from 0', count)
      .addOption(
        new Option('--as <decision>', 'the decision').choices(DECISIONS).makeOptionMandatory(),
      )
      .requiredOption(
        '--by <operator>',
        'the deciding operator: a counselor of the kind operator',
        someone,
      )
      .option(
        '--writ <file>',
        'writ of the operator that names assize.resolve_effect and effect:TOOL; no domain is needed',
      )
      .requiredOption(
        '--evidence <text>',
        'finding that supports the decision; stored by salted hash',
      )
      .option('--confirm', 'retry even if the effect may happen twice'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n' +
        '  assize effects resolve 7 0 --as applied --by ops --evidence "it is in the outbox" --domain shop.ts\n' +
        '  assize effects resolve 7 0 --as retry --confirm --by ops --evidence "no mail came" --writ ops.json --tools tools.ts\n\n' +
        '  applied  the effect happened; it is compensated if its transaction is aborted\n' +
        '  undone   the effect did not happen, or was reverted by hand; did_not_happen is another word for it,\n' +
        '           where the tool refused the call\n' +
        '  retry    the effect is retried\n' +
        '  residue  the effect stays as it is, and is no longer tracked\n\n' +
        'A process that can write the store can decide under any name. The name of --by is recorded as given.\n' +
        'Negative: the transaction has not ended. It needs another human decision, or a missing tool.',
    )
    .action(
      inSession((session, options: ResolveOptions, epoch: number, n: number) =>
        session.withStore('existing', async (store) => {
          const { by, evidence, confirm = false } = options;
          const as = options.as === 'did_not_happen' ? 'undone' : options.as;
          const writ = options.writ === undefined ? {} : { writ: readWritFile(options.writ) };
          const decision = { epoch, n, as, by, evidence, confirm, ...writ };
          const given = await givenBy(options, []);
          const [before] = await runtimeOver(store).effects({ epoch });
          const resolved = await withEffects(session, store, options, given, (assize, signal) =>
            assize.resolveEffect(decision, signal),
          ).catch(async (error: unknown) => {
            if (isInstance(error, Interrupted)) return error;
            if (isAssizeError(error, 'needs_confirmation')) throw inOptions(error);
            if (isAssizeError(error, 'unauthorised_operator')) throw withOperator(error);
            if (!isAssizeError(error, 'already_done')) throw error;
            const [after] = await runtimeOver(store).effects({ epoch });
            const carriedOut = before && after && carriedOutHere(before, after, decision);
            if (carriedOut === undefined) throw error;
            return carriedOut;
          });
          if (
            resolved instanceof Interrupted ||
            (session.interruption.aborted && !hasEnded(resolved.transaction))
          ) {
            const { signal }: Interrupted = session.interruption.reason;
            const [after] = await runtimeOver(store).effects({ epoch });
            throw new Interrupted(signal, true, resolvedUntil(after, decision));
          }
          const [after] = await runtimeOver(store).effects({ epoch });
          const values = new ValueReader(store);
          const left =
            as === 'undone' ? await leftInState(store, values, after?.entry, {}) : undefined;
          return say(
            session,
            resolved,
            missingIn(await runtimeOver(store).effects({ epoch }), given),
            left,
          );
        }),
      ),
    );
}

/** The operator's name, as typed. */
function someone(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must name the operator.');
  return text;
}

/** The runtime names a field, and the command line has an option. */
function inOptions(error: AssizeError): CliError {
  const message = error.message.replace('with `confirm`', 'with --confirm');
  return new CliError('needs_confirmation', message, { evidence: error.evidence, cause: error });
}

function withOperator(error: AssizeError): EffectError {
  const message = error.message.replace(', and `by` says', '; --by says');
  return new EffectError('unauthorised_operator', message, {
    evidence: error.evidence,
    cause: error,
  });
}

interface RepeatedResolution extends ResolvedEffect {
  /** An earlier decision exists. */
  readonly isRepeated: true;
}

/**
 * The outcome of an earlier decision that needed the tools of this process. Undefined if there was
 * none.
 */
function carriedOutHere(
  before: EffectTransaction,
  after: EffectTransaction,
  { n, as, by }: Pick<ResolveOptions, 'as' | 'by'> & { readonly n: number },
): RepeatedResolution | undefined {
  const effect = after.effects[n];
  const { resolved } = effect ?? {};
  if (effect === undefined || resolved?.as !== as || resolved.by !== by) return undefined;
  if (before.phase === after.phase && before.effects[n]?.phase === effect.phase) return undefined;
  const { epoch, trajectoryId, phase: transaction } = after;
  const left = after.effects.filter(({ phase }) => isUnresolved(phase)).length;
  const { tool, key, phase } = effect;
  return {
    epoch,
    trajectoryId,
    n,
    tool,
    key,
    phase,
    transaction,
    unresolved: left,
    isRepeated: true,
  };
}

function onRecoveryFailed({ message }: { readonly message: string }): void {
  note(message);
}

/** A runtime for effects only: without proposals, it needs neither anchors nor domains. */
function runtimeOver(
  store: Store,
  more: Partial<
    Pick<
      AssizeOptions,
      | 'tools'
      | 'domains'
      | 'anchors'
      | 'signer'
      | 'entryKeys'
      | 'effects'
      | 'policy'
      | 'approvals'
      | 'memory'
    >
  > = {},
): Assize {
  return new Assize({
    store,
    domains: [],
    anchors: [generateKeys().publicKey],
    tools: [],
    ...more,
    effects: { onRecoveryFailed, ...more.effects },
  });
}

interface GivenHere extends GivenRequirements {
  readonly anchors: readonly string[];
  /** Called for transactions that can't be resumed. Default: a note is printed. */
  readonly onFailed?: typeof onRecoveryFailed;
}

/**
 * The tools of the files. The domains too, if one is named or needed, because they adjudicate the
 * proposals after failed effects.
 */
async function givenBy(
  { tools, domain, anchors, store, writ }: WorkingOptions & Pick<ResolveOptions, 'writ'>,
  listed: readonly EffectTransaction[],
): Promise<GivenHere> {
  const own = project()?.domains ?? [];
  const isNeeded =
    domain.length + own.length > 0 || listed.some(({ needs }) => needs?.domain !== undefined);
  const keys = isNeeded || writ !== undefined ? readAnchors(store, anchors) : [];
  return {
    tools: await loadTools(tools),
    domains: isNeeded ? await loadDomains(domain) : [],
    anchors: keys,
    hasAnchors: keys.length > 0,
  };
}

/**
 * Runs a function with the tools, as soon as no other process holds the effects. Its decision is
 * durable when the method returns.
 */
async function withEffects<T>(
  { interruption, storeUrl }: Session,
  store: Store,
  { wait, recoveryKey, signer, entryKey }: WorkingOptions,
  { tools, domains, anchors, onFailed }: GivenHere,
  work: (assize: Assize, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const assize = runtimeOver(reportingWaits(store, wait), {
    tools,
    domains,
    ...(anchors.length > 0 && { anchors }),
    ...runtimeKeys({ signer, entryKey }),
    ...(await projectOptions()),
    effects: {
      ...(signer === undefined && rootRecovery(storeUrl)),
      ...project()?.effects,
      ...readRecoveryKey(recoveryKey),
      onRecoveryFailed: onFailed ?? (({ message }) => note(message)),
    },
  });
  try {
    return await untilStopped(assize, tools, interruption, () =>
      whenEffectsFree(interruption, wait, (signal) => work(assize, signal)),
    );
  } finally {
    await assize.close();
  }
}

function say(
  { json, out }: Session,
  resolved: ResolvedEffect | RepeatedResolution,
  missing: MissingRequirements,
  left: LeftInState | undefined,
): ExitCode {
  const { epoch, trajectoryId, n, tool, key, phase, transaction, unresolved } = resolved;
  const isOver = hasEnded(transaction);
  const repeated = 'isRepeated' in resolved && { decided_before: true };
  if (json)
    out.document({
      epoch,
      trajectory_id: trajectoryId,
      n,
      tool,
      key,
      phase,
      transaction,
      unresolved,
      missing,
      ...(left && { left_in_state: left }),
      ...repeated,
    });
  else {
    out.line(
      'isRepeated' in resolved
        ? line`${green('carried out')} the earlier decision on ${tool} of transaction ${epoch}; it is ${phase}`
        : line`${green('resolved')} ${tool} of transaction ${epoch}; it is ${phase}`,
    );
    if (isOver)
      out.line(line`Transaction ${epoch} is ${transaction}; its scope claims are released.`);
    else if (unresolved > 0)
      out.line(
        line`${yellow(counted(unresolved, 'effect'))} of it still ${unresolved === 1 ? 'needs' : 'need'} a human decision.`,
      );
    else
      out.line(
        line`Resume it with assize effects recover, in a process that has its tools and domain.`,
      );
    printMissing(out, missing);
    if (left !== undefined)
      out.line(
        line`The state still has what ${left.action} changed there: ${left.paths.join(', ')}. Propose a correction.`,
      );
  }
  return isOver ? EXIT.ok : EXIT.negative;
}

/** @throws every error except an interruption */
function stoppedBy(error: unknown): Interrupted {
  if (isInstance(error, Interrupted)) return error;
  throw error;
}

function recoveredUntil(
  ended: readonly EffectTransaction[],
  left: readonly EffectTransaction[],
): string {
  const done = `${counted(ended.length, 'transaction')} ${ended.length === 1 ? 'has' : 'have'} ended`;
  if (left.length === 0) return `${done}, and none remains`;
  return `${done}, and ${left.length} ${left.length === 1 ? 'remains' : 'remain'} (assize effects list); resume with assize effects recover`;
}

/** The phase that the log records. */
function resolvedUntil(
  after: EffectTransaction | undefined,
  { epoch, n }: Pick<ResolvedEffect, 'epoch' | 'n'>,
): string {
  const effect = after?.effects[n];
  if (after === undefined || effect?.resolved === undefined)
    return `effect ${n} of transaction ${epoch} is not decided yet`;
  const decided = `${effect.tool} of transaction ${epoch} was resolved as ${effect.resolved.as}, and is ${effect.phase}`;
  return hasEnded(after.phase)
    ? decided
    : `${decided}; assize effects list --epoch ${epoch} shows the rest`;
}
