import {
  bold,
  CliError,
  dim,
  EXIT,
  entryNamed,
  inSession,
  instantOrDay,
  line,
  type Output,
  red,
  repeatable,
  type SharedOptions,
} from '@assize/command';
import type { Derivation } from 'assize/internal/runtime';
import { counted, shortId, shortTime } from 'assize/internal/views';
import type { Command } from 'commander';
import {
  type BlastRadius,
  blastDocument,
  blastRadius,
  DERIVATIONS,
  type IncidentStart,
} from '#blast';
import { withActingOptions } from './acting-options.ts';
import { carryOutCommand } from './carry-out.ts';
import { type ResponseOptions, requireResponseOptions, respond } from './respond.ts';

interface Options extends SharedOptions, ResponseOptions {
  readonly entry?: string;
  readonly writ?: string;
  readonly principal?: string;
  readonly approver?: string;
  readonly tool?: string;
  readonly definition?: string;
  readonly source?: string;
  readonly space?: string;
  readonly subject?: string;
  readonly predicate?: string;
  readonly since?: string;
  readonly until?: string;
  readonly without: readonly string[];
}

export function blast(program: Command): void {
  const command = program.command('blast');
  carryOutCommand(command);
  withActingOptions(
    command
      .description(
        'list all that derives from a bad credential, approver, tool, source, fact or entry',
      )
      .option('--entry <entry>', 'an entry: its id or a prefix')
      .option('--writ <id>', 'entries under a writ, or under a writ below it')
      .option('--principal <name>', 'entries under the writs that a principal holds')
      .option('--approver <name>', 'decisions of a principal')
      .option('--tool <name>', 'calls of a tool: NAME, or SERVER/TOOL behind the gateway')
      .option('--definition <hash>', 'calls of the gateway under a definition of their tool')
      .option('--source <text>', 'facts that name a source, such as a message')
      .option('--space <name>', 'facts of a space: pass --subject too')
      .option('--subject <name>', 'with --space: the facts of this subject')
      .option('--predicate <name>', 'with --space and --subject: the facts of this predicate')
      .option('--since <instant>', 'the incident begins at or after this time', instantOrDay)
      .option('--until <instant>', 'the incident begins before this time', instantOrDay)
      .addOption(
        repeatable('--without <derivation>', `do not follow one of: ${DERIVATIONS.join(', ')}`),
      )
      .option('--plan', 'print the response: its steps, and what remains')
      .option('--propose', 'propose the response; a person approves it')
      .option('--because <text>', 'with --propose: the reason; stays in the ledger')
      .option('--no-halts', 'plan no halts of trajectories with affected work in progress'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize blast --writ 1f0c8a77… --since 2026-05-03T00:00:00Z\n  assize blast --approver human:ana --without state\n' +
        '  assize blast --principal agent:scout --propose --because "the token leaked"\n\n' +
        'Pass exactly one start. A derivation is a fact from a statement (belief), a proposal that used a recall (recall),\n' +
        'a change of a path of the state that an affected entry had written (state), a decision on an affected proposal\n' +
        '(decision), an outcome of its effects (outcome), a delegation, or a branch.\n' +
        'The search reads every entry, and changes nothing. After --propose, approve the proposal, and run\n' +
        'assize blast carry-out.\n' +
        'Negative: an entry is affected. With --plan and --propose: never. A start that no entry has is an error.',
    )
    .action(
      inSession((session, options: Options) => {
        requireResponseOptions(options);
        const isPlanned = options.plan === true || options.propose === true;
        return session.withStore(
          options.propose === true ? 'existing' : 'readonly',
          async (store) => {
            const start = await startOf(
              options,
              async (text) => (await entryNamed(store, text)).id,
            );
            const total = (await store.trajectories()).reduce(
              (sum, { entries }) => sum + entries,
              0,
            );
            const radius = await blastRadius(store, start, {
              ...(options.without.length > 0 && { through: withoutSome(options.without) }),
              onProgress: (entries) => session.progress.report('entries searched', entries, total),
            });
            session.progress.end();
            if (radius.entries.length === 0) throw noStart(start);
            if (isPlanned) return respond(session, store, radius, options);
            if (session.json) session.out.document(blastDocument(radius));
            else printBlastRadius(session.out, radius);
            return EXIT.negative;
          },
        );
      }),
    );
}

async function startOf(
  options: Options,
  idOf: (text: string) => Promise<string>,
): Promise<IncidentStart> {
  const { entry, space, subject, predicate, since, until } = options;
  if (
    (space === undefined) !== (subject === undefined) ||
    (predicate !== undefined && space === undefined)
  )
    throw new CliError(
      'usage',
      'Facts are named by --space and --subject, and by --predicate for some. Pass both.',
    );
  const start: Record<string, unknown> = {};
  for (const name of ['writ', 'principal', 'approver', 'tool', 'definition', 'source'] as const)
    if (options[name] !== undefined) start[name] = options[name];
  if (entry !== undefined) start['entry'] = await idOf(entry);
  if (space !== undefined)
    start['facts'] = { space, subject, ...(predicate !== undefined && { predicate }) };
  if (since !== undefined) start['since'] = since;
  if (until !== undefined) start['until'] = until;
  return start as IncidentStart;
}

/** An empty answer would read as if nothing were affected, also where a name is mistyped. */
function noStart({ since, until, ...start }: IncidentStart): CliError {
  const [[name, value] = ['entry', '']] = Object.entries(start);
  const given = typeof value === 'string' ? value : Object.values(value as object).join(' ');
  const period = since === undefined && until === undefined ? '' : ' in that period';
  return new CliError(
    'not_found',
    `No entry of the ledger has the ${name} ${given}${period}, so nothing derives from it. Check the name with assize log or assize writ show.`,
  );
}

/** @throws CliError `usage` */
function withoutSome(without: readonly string[]): readonly Derivation[] {
  const unknown = without.find((name) => !(DERIVATIONS as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new CliError(
      'usage',
      `${unknown} is not a derivation. Pass one of ${DERIVATIONS.join(', ')}.`,
    );
  return DERIVATIONS.filter((name) => !without.includes(name));
}

/** A blast radius as text: its entries in log order, then its facts, calls and proposals. */
function printBlastRadius(out: Output, radius: BlastRadius): void {
  const { facts, ended, calls, pending, erased } = radius;
  printEntries(out, radius);
  printFacts(out, facts, 'believed');
  printFacts(out, ended, 'ended');
  printCalls(out, calls);
  if (pending.length > 0)
    out.line(line`${bold(counted(pending.length, 'proposal'))} still pending`);
  for (const id of pending) out.line(line`  ${shortId(id)}`);
  if (erased > 0)
    out.line(
      line`${red(`${counted(erased, 'value')} erased`)}: what derives through them alone is not listed.`,
    );
}

/** Each entry once, with the entries that it derives from. */
function printEntries(out: Output, { entries, total }: BlastRadius): void {
  const starts = entries.filter(({ isStart }) => isStart).length;
  const derived = entries.length - starts;
  const trajectories = new Set(entries.map(({ trajectoryId }) => trajectoryId)).size;
  out.line(
    line`${bold(`${counted(entries.length, 'entry')} of ${total.toLocaleString('en')}`)} in ${counted(trajectories, 'trajectory')}: ${starts.toLocaleString('en')} where it begins, ${derived.toLocaleString('en')} that ${derived === 1 ? 'derives' : 'derive'}`,
  );
  for (const { id, trajectoryId, seq, at, kind, action, isStart, from } of entries) {
    const why = [...Map.groupBy(from, ({ how }) => how)].map(
      ([how, links]) => `${how} of ${links.map(({ entry }) => shortId(entry)).join(', ')}`,
    );
    const said = [...(isStart ? ['start'] : []), ...why].join('; ');
    out.line(
      line`  ${bold(shortId(id))} ${trajectoryId} seq ${seq} ${action ?? kind} ${dim(shortTime(at))} ${said}`,
    );
  }
}

function printFacts(out: Output, facts: BlastRadius['facts'], became: 'believed' | 'ended'): void {
  if (facts.length > 0)
    out.line(line`${bold(counted(facts.length, 'fact'))} ${became} because of it`);
  for (const { entry, space, subject, predicate, object } of facts)
    out.line(line`  ${space} ${subject} ${predicate} ${object} ${dim(shortId(entry))}`);
}

const GATEWAY_CALL = ' through the gateway: only another call of its server takes it back';

function printCalls(out: Output, calls: BlastRadius['calls']): void {
  if (calls.length > 0) out.line(line`${bold(counted(calls.length, 'call'))} made because of it`);
  for (const { entry, tool, reversibility, outcome, via } of calls) {
    const rest =
      via === 'gateway' && outcome !== 'undone' && outcome !== 'failed' ? GATEWAY_CALL : '';
    out.line(
      line`  ${tool ?? 'erased'} ${reversibility ?? ''} ${outcome} ${dim(shortId(entry))}${rest}`,
    );
  }
}
