import {
  bold,
  CliError,
  dim,
  EXIT,
  green,
  INSTANT_HELP,
  inSession,
  instantText,
  isPrefix,
  line,
  periodText,
  printFacts,
  readingAssize,
  red,
  requireSpace,
  type Session,
  saidOf,
  shortened,
  shortFact,
  withSharedOptions,
} from '@assize/command';
import type { Instant } from 'assize/internal/canon';
import type { FactRow } from 'assize/internal/memory';
import type { Explained } from 'assize/internal/runtime';
import { shortId, shortTime } from 'assize/internal/views';
import type { Command } from 'commander';
import { type AboutOptions, about, given, LIMIT_MAX, systemOption, validOption } from './recall.ts';

interface Options extends AboutOptions {
  readonly fact?: string;
  readonly valid?: Instant | 'any';
  readonly system?: Instant | 'any';
}

export function explain(command: Command): void {
  withSharedOptions(
    about(
      command
        .command('explain')
        .description('show the versions, contradictions and source entries of a fact'),
    )
      .option('--fact <id>', 'id of the fact as listed by recall, or its first 8 digits')
      .addOption(validOption)
      .addOption(systemOption),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize memory explain --space ward-3 --subject "patient 7" --predicate weight\n' +
        '  assize memory explain --space ward-3 --fact 1f0c8a77 --system any --json\n\n' +
        `The options must select one fact. ${INSTANT_HELP} No domain is needed.`,
    )
    .action(
      inSession((session, options: Options) =>
        session.withStore('readonly', async (store) => {
          const memory = readingAssize(store).memory(options.space, options.trajectory);
          // A losing assertion is found only by its id.
          const kind = options.fact === undefined ? 'current' : 'all';
          const about = given(options, 'subject', 'predicate', 'valid', 'system');
          const { facts, isTruncated } = await memory.recall({ ...about, kind, limit: LIMIT_MAX });
          if (facts.length === 0) {
            requireFactId(options.fact);
            await requireSpace(store, options.space);
          }
          if (isTruncated)
            throw new CliError(
              'ambiguous',
              `More than ${LIMIT_MAX} facts match. Narrow the selection with --subject and --predicate.`,
            );
          print(session, await memory.explain(oneOf(facts, options.fact)));
          return EXIT.ok;
        }),
      ),
    );
}

function print(
  { json, out }: Session,
  { fact, versions, contradictions, entries, sources, trust }: Explained,
): void {
  if (json) {
    const rested = entries.map(({ trajectoryId: trajectory_id, ...entry }) => ({
      trajectory_id,
      ...entry,
    }));
    const lost = contradictions.map(({ decided, ...each }) => ({
      ...each,
      ...(decided && {
        decided: { entry_id: decided.entry, principal: decided.principal, as: decided.as },
      }),
    }));
    const stated = sources.map(({ entry: entry_id, ...each }) => ({ entry_id, ...each }));
    out.document({ fact, versions, contradictions: lost, entries: rested, sources: stated, trust });
    return;
  }
  const { subject, predicate, valid_from, valid_to } = fact;
  out.line(
    line`${bold(subject)} ${predicate} ${bold(saidOf(fact))}, valid ${periodText(valid_from, valid_to)}`,
  );
  out.line(line``);
  printFacts(out, versions);
  for (const { fact: lost, witness, decided } of contradictions) {
    out.line(line``);
    const when = line`contradicted at ${instantText(lost.system_time_start)}, in ${periodText(lost.valid_from, lost.valid_to)}`;
    const by =
      decided === undefined
        ? line``
        : line`, decided by ${bold(decided.principal)}, ${decided.as}, in ${shortId(decided.entry)}`;
    if (witness === 'erased') {
      out.line(line`${when}${by}; the statements are erased`);
      continue;
    }
    out.line(line`${when}, settled by ${dim(witness.strategy)}${by}`);
    // A human decision is an entry, and has no theta.
    if (witness.theta !== undefined && witness.judge !== undefined)
      out.line(line`judge vote: assize show ${witness.judge}`);
    out.table(
      [
        { title: '' },
        { title: 'object' },
        { title: 'confidence', align: 'right' },
        { title: 'claim' },
      ],
      witness.members.map(({ claim, object, confidence }) => [
        claim === witness.winner ? green('won') : claim === witness.loser ? red('lost') : '',
        shortened(object),
        confidence,
        shortFact(claim),
      ]),
    );
  }
  const named = [...new Set(sources.flatMap(({ source }) => source ?? []))];
  if (named.length > 0) out.line(line`${dim('sources')} ${named.join(', ')}`);
  for (const { kind, name } of trust) out.line(line`${dim(kind)} ${name}`);
  out.line(line``);
  out.table(
    [
      { title: 'entry' },
      { title: 'trajectory' },
      { title: 'seq', align: 'right' },
      { title: 'at' },
      { title: 'action' },
    ],
    entries.map(({ id, trajectoryId, seq, at, action }) => [
      shortId(id),
      trajectoryId,
      seq,
      shortTime(at),
      action,
    ]),
  );
}

/** Maximum number of facts in an ambiguity error. */
const NAMED_MAX = 5;

/**
 * The matching fact, in its latest version.
 * @throws CliError
 */
export function oneOf(facts: readonly FactRow[], id: string | undefined): FactRow {
  const exact = facts.filter(({ fact_id }) => fact_id === id || shortFact(fact_id) === id);
  const meant = facts.filter(
    ({ fact_id }) => id === undefined || (id.length >= 8 && fact_id.startsWith(id)),
  );
  const versions = exact.length > 0 ? exact : meant;
  const ids = [...new Set(versions.map(({ fact_id }) => fact_id))];
  if (ids.length === 1) return versions.at(-1)!;
  if (ids.length === 0) requireFactId(id);
  if (ids.length === 0)
    throw new CliError(
      'not_found',
      'No fact matches at this time. Pass --valid any and --system any to search all times.',
    );
  const named = ids.slice(0, NAMED_MAX).map(shortFact).join(', ');
  throw new CliError(
    'ambiguous',
    `${ids.length} facts match (${named}${ids.length > NAMED_MAX ? ', …' : ''}). Pass --fact ID, or narrow the selection.`,
    { evidence: { ids: ids.slice(0, NAMED_MAX) } },
  );
}

/** @throws CliError `usage` for a text that no fact can have as its id */
function requireFactId(id: string | undefined): void {
  // The full ids of losing assertions and of parts of a fact contain colons.
  if (id === undefined || isPrefix(id) || id.includes('::')) return;
  throw new CliError(
    'usage',
    `'${id}' is not a fact id. Pass its first 8 to 64 hex digits, as listed by recall.`,
  );
}
