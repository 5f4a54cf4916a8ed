import type { WritChain } from 'assize/host';
import type { Writ } from 'assize/internal/authority';
import { BELIEVE_ACTION, type Domain, STATEMENT_TEXTS } from 'assize/internal/kernel';
import { type CommitPayload, readRow } from 'assize/internal/ledger';
import type { Ruling } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { rulingView, shortId } from 'assize/internal/views';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CliError } from '../errors.ts';
import { type OpeningOptions, withOpeningOptions } from '../files/options.ts';
import { ephemeralWrits } from '../input/ephemeral-writ.ts';
import { keyOrRoot, requireAnchor } from '../input/private-key.ts';
import { readWritFile } from '../input/writ-file.ts';
import { headOf } from '../store/entries.ts';
import type { Session, SharedOptions } from '../store/session.ts';
import { green, line, type Printable, red, yellow } from '../terminal/printable.ts';

/** The space of an assertion, and its authority. */
export interface AssertOptions extends SharedOptions, OpeningOptions {
  readonly space: string;
  readonly writ?: string;
  readonly key?: string;
  readonly principal: string;
}

export const spaceOption: Option = new Option(
  '--space <name>',
  'space of the facts; facts of different spaces are not compared',
)
  .argParser(validName)
  .makeOptionMandatory();

export function withFactAuthority(command: Command): Command {
  return withOpeningOptions(
    command
      .addOption(spaceOption)
      .addOption(
        new Option(
          '--writ <file>',
          `file with a writ for ${BELIEVE_ACTION} on memory:SPACE:SUBJECT:PREDICATE`,
        ).conflicts('key'),
      )
      .option(
        '--key <file>',
        'or the private key of an anchor, to sign a short-lived writ (default: the root key of the store)',
      )
      .option('--principal <name>', 'without --writ: the asserting principal', 'operator'),
  );
}

/** A typed name of a space, subject, predicate or source. */
export function validName(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  const { error } = STATEMENT_TEXTS.name.safeParse(text);
  if (error !== undefined)
    throw new InvalidArgumentError(`It is not a valid name: ${error.issues[0]?.message}.`);
  return text;
}

/** @throws CliError naming the existing domains */
export function requirePredicate({ name, memory }: Domain, predicate: string): void {
  const declared = memory?.predicates ?? {};
  if (Object.hasOwn(declared, predicate)) return;
  const known = Object.keys(declared).sort().join(', ');
  const there =
    memory === undefined
      ? 'Declare its memory first'
      : known === ''
        ? 'Declare a predicate first'
        : `Name one of: ${known}`;
  throw new CliError(
    'bad_input',
    `The domain ${name} declares no predicate ${JSON.stringify(predicate)} in its memory. ${there}.`,
  );
}

/** The given writ, or a root writ that is valid for the next minutes. */
export type WritOf = () => Writ | WritChain;

/**
 * Reads the options before a store is opened. `scope`: the scope of an ephemeral writ.
 * @throws CliError
 */
export function factAuthority(
  { storeUrl }: Session,
  options: AssertOptions,
): (store: Store, trajectoryId: string, scope: string) => Promise<WritOf> {
  if (options.writ !== undefined) {
    const given = readWritFile(options.writ);
    return async () => () => given;
  }
  const key = keyOrRoot(storeUrl, options);
  requireAnchor(storeUrl, options.anchors, key, 'to assert without --writ');
  return async (store, trajectoryId, scope) => {
    const what = { action: BELIEVE_ACTION, scopes: [scope], principal: options.principal };
    return ephemeralWrits(await headOf(store, trajectoryId), what, key);
  };
}

/** The facts that a commit changed. */
export interface MemoryChange {
  /** Fact versions that hold from the commit on. */
  readonly believed: number;
  /** Fact versions that no longer hold. */
  readonly closed: number;
  /** Contradictions with a losing assertion. */
  readonly lost: number;
}

export function memoryChangeOf(ruling: Extract<Ruling, { ruling: 'committed' }>): MemoryChange {
  const { beliefs } = (readRow(ruling.entry).payload as CommitPayload).delta;
  const rows = beliefs.flatMap(({ insert }) => insert);
  const lost = rows.filter(({ row_kind }) => row_kind === 'audit').length;
  const closed = beliefs.reduce((sum, { close }) => sum + close.length, 0);
  return { believed: rows.length - lost, closed, lost };
}

/** The outcome of the assertion, for programs. */
export function factRulingDocument(ruling: Ruling): object {
  return { ...rulingView(ruling), ...(ruling.ruling === 'committed' && memoryChangeOf(ruling)) };
}

export function factRulingLine(ruling: Ruling): Printable {
  if (ruling.ruling === 'frozen')
    return line`${yellow('frozen')} by ${shortId(ruling.by)}: ${ruling.detail}`;
  const { id, seq, trajectory_id } = ruling.entry;
  const place = line`as ${shortId(id)}, ${trajectory_id} seq ${seq}`;
  if (ruling.ruling === 'committed')
    return line`${green('committed')} ${place}: ${changedText(memoryChangeOf(ruling))}`;
  const { detail, reason } = ruling;
  if (ruling.ruling === 'rejected') return line`${red('rejected')} ${place}: ${detail} (${reason})`;
  return line`${yellow('pending')} for ${ruling.channel} ${place}: ${detail}; assize pending shows it`;
}

function changedText({ believed, closed, lost }: MemoryChange): string {
  if (believed + closed + lost === 0) return 'no change';
  return [`${believed} added`, `${closed} closed`, ...(lost === 0 ? [] : [`${lost} lost`])].join(
    ', ',
  );
}
