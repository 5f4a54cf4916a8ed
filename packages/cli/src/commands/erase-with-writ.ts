import {
  asksYes,
  CliError,
  canAsk,
  EXIT,
  ephemeralWrit,
  green,
  headOf,
  keyOrRoot,
  line,
  type OpeningOptions,
  red,
  requireAnchor,
  type Session,
  type SharedOptions,
  withAssize,
  withOpeningOptions,
  writsIn,
  yellow,
} from '@assize/command';
import { segment, writId } from 'assize/internal/authority';
import { ERASE_ACTION, eraseMemoryScope, eraseScope } from 'assize/internal/kernel';
import {
  answersErasedBy,
  checkRow,
  type EntryRow,
  type ErasureArgs,
  type Hash,
  isErasure,
  loggedErasedBy,
  ValueReader,
} from 'assize/internal/ledger';
import type { ErasureInput, ErasurePreview, ErasureRuling } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { counted, shortId } from 'assize/internal/views';
import type { Command } from 'commander';
import { shortName } from '../render/writ-text.ts';
import { findClaim } from '../store/claims.ts';
import { extentOf, RETENTION, sayPreview } from './erase-preview.ts';

/** The reason of an erasure, and its authority. */
export interface ErasingOptions extends SharedOptions, OpeningOptions {
  readonly reason: string;
  readonly key?: string;
  readonly principal: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** The items to erase, with full ids. */
export type ErasureSelection = Required<
  Pick<ErasureInput, 'at' | 'entries' | 'beliefs' | 'transactions'>
>;

export function withErasing(command: Command): Command {
  return withOpeningOptions(
    command
      .requiredOption('--reason <text>', 'reason for the erasure; stays in the ledger')
      .option(
        '--key <file>',
        'private key of an anchor: 64 hex digits (default: the root key of the store)',
      )
      .option(
        '--principal <name>',
        'the erasing principal, subject of the short-lived writ',
        'operator',
      )
      .option('--dry-run', 'print what the erasure would erase, and erase nothing')
      .option('--yes', 'erase without a question; required where no terminal can ask'),
  );
}

/**
 * Erases the items under a writ made for this purpose, prints the outcome, and returns the exit
 * code. `wantedIn`: the items, read from the store.
 */
export function erasedIn(
  session: Session,
  options: ErasingOptions,
  trajectoryId: string,
  wantedIn: (store: Store) => Promise<ErasureSelection>,
): Promise<number> {
  const key = keyOrRoot(session.storeUrl, options);
  requireAnchor(session.storeUrl, options.anchors, key, 'to erase');
  return session.withStore('existing', async (store) => {
    const head = await headOf(store, trajectoryId);
    const wanted = await wantedIn(store);
    const { principal } = options;
    const writ = ephemeralWrit(
      head,
      { action: ERASE_ACTION, scopes: scopesOf(wanted), principal },
      key,
    );
    const input = { ...wanted, reason: options.reason, writ };
    return withAssize(store, session.storeUrl, options, async (assize) => {
      const trajectory = await assize.open(trajectoryId);
      if (options.dryRun === true) {
        sayPreview(session, trajectoryId, await trajectory.previewErasure(input));
        return EXIT.ok;
      }
      if (options.yes !== true)
        await confirmed(session, trajectoryId, await trajectory.previewErasure(input));
      session.progress.announce('erasing, and rewriting the storage');
      const ruling = await trajectory.erase(input);
      session.progress.end();
      const erasures = await erasuresSince(store, head, writId(writ));
      await say(session, ruling, erasures, await writsNaming(store, trajectoryId, wanted.beliefs));
      return ruling.ruling === 'committed' ? EXIT.ok : EXIT.negative;
    });
  });
}

/** @throws CliError `needs_confirmation` unless a person at the terminal agrees */
async function confirmed(
  session: Session,
  trajectoryId: string,
  preview: ErasurePreview,
): Promise<void> {
  if (canAsk() && !session.json) {
    sayPreview(session, trajectoryId, preview);
    if (await asksYes('Erase these values permanently?', session.interruption)) return;
    throw new CliError(
      'needs_confirmation',
      'Nothing is erased. Repeat the command and answer yes to erase.',
    );
  }
  throw new CliError(
    'needs_confirmation',
    `Nothing is erased: the command would erase ${extentOf(preview)} permanently. ${RETENTION} Pass --dry-run to list them, or --yes to erase them.`,
  );
}

type Believed = ErasureSelection['beliefs'][number];

/**
 * Completes the id of a claim from its first digits.
 * @throws CliError
 */
export async function completeSelector(
  store: Store,
  trajectory: string,
  belief: Believed,
): Promise<Believed> {
  const { claim, ...place } = belief;
  return claim === undefined
    ? belief
    : { ...belief, claim: await findClaim(store, { ...place, trajectory }, claim) };
}

/** The scope of a writ for exactly these items. */
function scopesOf({ at, entries, beliefs, transactions }: ErasureSelection): string[] {
  const spaces = new Set(beliefs.map(({ space }) => eraseMemoryScope(space)));
  const effects = transactions.map((epoch) => `erase:effects:${epoch}`);
  return [
    ...at.map(eraseScope),
    ...entries.map((id) => `erase:entry:${id}`),
    ...spaces,
    ...effects,
  ];
}

/** Writs with scopes that name a subject. They are signed, and stay unchanged. */
async function writsNaming(
  store: Store,
  trajectoryId: string,
  beliefs: ErasureSelection['beliefs'],
): Promise<string[]> {
  if (beliefs.length === 0) return [];
  const subjects = new Set(beliefs.map(({ subject }) => segment(subject)));
  const names = (scope: string): boolean => {
    const [kind, , subject] = scope.split(':');
    return kind === 'memory' && subject !== undefined && subjects.has(subject);
  };
  const writs = await writsIn(store, trajectoryId);
  return writs
    .filter(({ writ, chain }) => [writ, ...chain].some(({ scopes }) => scopes?.some(names)))
    .map(({ id }) => id);
}

async function say(
  { json, out }: Session,
  ruling: ErasureRuling,
  erasures: readonly Erased[],
  naming: readonly string[],
): Promise<void> {
  if (ruling.ruling === 'frozen') {
    const { by, detail } = ruling;
    if (json) out.document({ ruling: 'frozen', by, detail });
    else out.line(line`${yellow('frozen')} by ${shortId(by)}: ${detail}`);
    return;
  }
  const { id, seq, trajectory_id } = ruling.entry;
  const place = { ruling: ruling.ruling, trajectory_id, seq, entry_id: id };
  if (ruling.ruling === 'committed') {
    const values = erasures.flatMap(({ erasure }) => erasure.values);
    const answers = erasures.flatMap(({ erasure }) => answersErasedBy(erasure));
    const effectTexts = erasures.flatMap(({ erasure }) => loggedErasedBy(erasure));
    const by = erasures.map((each) => each.id);
    const entries = new Set(values.map((value) => value.seq)).size;
    const { remaining = [], unmarked = [], open = [] } = ruling;
    const others = remaining.filter((id) => id !== trajectory_id);
    if (json) {
      const logged = {
        ...(answers.length > 0 && { answers }),
        ...(effectTexts.length > 0 && { logged: effectTexts }),
        ...(open.length > 0 && { open }),
        ...(by.length > 1 && { by }),
      };
      out.document({
        ...place,
        erased: values.length,
        entries,
        values,
        ...logged,
        ...(ruling.remaining && { remaining, unmarked, writs: naming }),
      });
    } else {
      const logged = [
        ...(answers.length === 0
          ? []
          : [` and ${counted(answers.length, 'answer')} of the oracle log`]),
        ...(effectTexts.length === 0
          ? []
          : [` and ${counted(effectTexts.length, 'text')} of the effect log`]),
      ].join('');
      out.line(
        line`${green('erased')} ${counted(values.length, 'value')} of ${counted(entries, 'entry')}${logged}, by ${by.map(shortId).join(', ')}, ${trajectory_id} seq ${seq}`,
      );
      if (others.length > 0)
        out.line(
          line`${yellow('remaining')}: facts asserted in ${others.join(', ')}; erase them there too`,
        );
      if (open.length > 0)
        out.line(
          line`${yellow('remaining')}: values of open tool transactions: ${open.join(', ')}; erase them again after these end`,
        );
      if (unmarked.length > 0)
        out.line(
          line`${yellow('remaining')} in paths of the state that are not marked sensitive, by ${counted(unmarked.length, 'entry')}: ${unmarked.map(shortId).join(', ')}; assize show prints the changes`,
        );
      if (naming.length > 0)
        out.line(
          line`${yellow('named')} in a scope of ${counted(naming.length, 'writ')} that ${naming.length === 1 ? 'stays' : 'stay'} in the ledger: ${naming.map(shortName).join(', ')}; use * or a pseudonym for subjects`,
        );
    }
    return;
  }
  const { reason, detail } = ruling;
  if (json) out.document({ ...place, reason, detail });
  else if (ruling.ruling === 'rejected')
    out.line(line`${red('rejected')} as ${shortId(id)}: ${detail} (${reason})`);
  else
    out.line(
      line`${yellow('pending')} for ${ruling.channel} as ${shortId(id)}: ${detail}; nothing is erased yet`,
    );
}

interface Erased {
  readonly id: Hash;
  readonly erasure: ErasureArgs;
}

const PAGE = 1_000;

/** The items erased under the writ. A large erasure needs more than one entry. */
async function erasuresSince(
  store: Store,
  { trajectory_id, seq }: EntryRow,
  by: Hash,
): Promise<Erased[]> {
  const values = new ValueReader(store);
  const erasures: Erased[] = [];
  for (let from = seq + 1; ; from += PAGE) {
    const rows = await store.entries(trajectory_id, { from, limit: PAGE });
    for (const row of rows) {
      const { payload } = checkRow(row);
      if (!isErasure(payload) || payload.writ_id !== by) continue;
      const erasure = await values.erasure(row, payload);
      if (erasure === undefined) throw new Error(`The entry ${row.id} has no erasure.`);
      erasures.push({ id: row.id, erasure });
    }
    if (rows.length < PAGE) return erasures;
  }
}
