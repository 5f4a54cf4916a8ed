import {
  bold,
  CliError,
  checked,
  count,
  dim,
  EXIT,
  green,
  inSession,
  line,
  type Output,
  type Printable,
  positive,
  readJson,
  shortJson,
  withSharedOptions,
  yellow,
} from '@assize/command';
import type { Domain } from 'assize';
import type { Command } from 'commander';
import { z } from 'zod';
import type {
  Fingerprint,
  Ontology,
  SkewProposal,
  SkewSearch,
  SkewWitness,
  Verdict,
} from '../index.ts';
import { DOMAIN_OPTION, loadDomain, loadOntology, ONTOLOGY_ARGUMENT } from './load.ts';
import { type RoleCliOptions, thresholdOption } from './roles.ts';

/** Characters of a state that are shown; --json has all of it. */
const STATE_MAX = 1_000;

interface Options extends RoleCliOptions {
  readonly domain?: string;
  readonly state?: string;
  readonly proposals?: string;
  readonly seed?: number;
  readonly depth?: number;
  readonly width?: number;
  readonly tries?: number;
  readonly nearby?: number;
}

/** They say how a domain is run, and mean nothing without one. */
const SEARCH_OPTIONS = ['state', 'proposals', 'seed', 'depth', 'width', 'tries', 'nearby'] as const;

const PROPOSALS = z.array(
  z.object({
    action: z.string(),
    role: z.object({ name: z.string(), params: z.record(z.string(), z.string()).default({}) }),
    args: z.json(),
  }),
);

export function fingerprintOntology(command: Command): void {
  withSharedOptions(
    command
      .command('fingerprint')
      .description(
        'classify the system that the domain needs: write skew, pipeline, auditability, timed governance',
      )
      .argument('<ontology>', ONTOLOGY_ARGUMENT)
      .addOption(thresholdOption())
      .option(
        DOMAIN_OPTION[0],
        `${DOMAIN_OPTION[1]}: run it, to find proposals that break a rule together`,
      )
      .option('--state <file>', 'initial state, instead of the domain’s own')
      .option(
        '--proposals <file>',
        'additional proposals to try: a JSON list of {action, role, args}',
      )
      .option('--seed <n>', 'seed of the random draws (default: 1)', count)
      .option('--depth <n>', 'number of proposals before each checked state (default: 4)', count)
      .option('--width <n>', 'number of states per depth (default: 12)', positive)
      .option('--tries <n>', 'number of proposals per action and state (default: 40)', positive)
      .option(
        '--nearby <n>',
        'number of further states, with one other number (default: as --width)',
        count,
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize-experiments ontology fingerprint udt\n  assize-experiments ontology fingerprint udt --domain udt   with two proposals as witness',
    )
    .action(
      inSession(async ({ json, out }, options: Options, nameOrFile: string) => {
        const ontology = await loadOntology(nameOrFile);
        const domain = await domainToRun(options, ontology);
        const { fingerprint, withSearch } = await import('../index.ts');
        const { threshold } = options;
        const byFootprints = fingerprint(ontology, threshold === undefined ? {} : { threshold });
        const search = domain && (await searched(domain, options));
        const found =
          search === undefined ? byFootprints : withSearch(byFootprints, search, ontology);
        if (json) out.document({ ...found, ...(search && { executed: search }) });
        else print(out, found, search);
        return EXIT.ok;
      }),
    );
}

/**
 * The findings of a run are reported for the ontology, so the domain must belong to it. @throws
 * CliError
 */
async function domainToRun(options: Options, ontology: Ontology): Promise<Domain | undefined> {
  if (options.domain === undefined) {
    const alone = SEARCH_OPTIONS.find((name) => options[name] !== undefined);
    if (alone === undefined) return undefined;
    throw new CliError('usage', `--${alone} needs a domain to run. Name one with --domain.`);
  }
  const domain = await loadDomain(options.domain, ontology);
  if (domain.name === ontology.domain) return domain;
  throw new CliError(
    'usage',
    `The ontology describes ${ontology.domain}, but --domain names ${domain.name}. Pass --domain ${ontology.domain}.`,
  );
}

async function searched(domain: Domain, options: Options): Promise<SkewSearch> {
  const { findWriteSkew } = await import('../index.ts');
  const { state, proposals: file, seed, depth, width, tries, nearby } = options;
  const given = Object.entries({ seed, depth, width, tries, nearby }).filter(
    ([, value]) => value !== undefined,
  );
  return findWriteSkew(domain, {
    ...Object.fromEntries(given),
    ...(state !== undefined && { states: [readJson(state)] }),
    ...(file !== undefined && { proposals: checked(readJson(file), PROPOSALS, file) }),
  });
}

function print(out: Output, found: Fingerprint, search: SkewSearch | undefined): void {
  verdict(out, 'write skew', found.writeSkew);
  if (search !== undefined) printSearch(out, search);
  verdict(out, 'sequential pipeline', found.pipeline);
  verdict(out, 'auditability', found.auditability);
  verdict(out, 'timed governance', found.timedGovernance);
  out.line(line``);
  out.line(bold(found.conclusion));
}

function verdict(out: Output, what: string, { holds, witness }: Verdict): void {
  const said: Printable = holds ? green('yes') : yellow('no');
  out.line(line`${bold(what)}: ${said}`);
  for (const text of witness) out.line(line`  ${text}`);
}

function printSearch(out: Output, { witnesses, bound }: SkewSearch): void {
  const { seed, depth, width, tries, states, proposals, pairs, nearby } = bound;
  for (const witness of witnesses) printWitness(out, witness);
  const where = `${states} states, ${proposals} proposals, ${pairs} pairs and ${nearby} nearby states (depth ${depth}, width ${width}, tries ${tries}, seed ${seed})`;
  out.line(
    witnesses.length > 0
      ? line`  ${dim(`found by running the domain, within ${where}`)}`
      : line`  ${dim(`none found by running the domain, within ${where}`)}`,
  );
}

function printWitness(
  out: Output,
  { invariantId, detail, state, reached, first, second }: SkewWitness,
): void {
  out.line(
    line`  ${bold(invariantId)} passes for each of these alone, and breaks after both: ${detail}`,
  );
  out.line(
    line`    on   ${shortJson(state, STATE_MAX)}${reached ? '' : ', a reached state with one other number'}`,
  );
  out.line(line`    one  ${proposalText(first)}`);
  out.line(line`    two  ${proposalText(second)}`);
}

function proposalText({ role, action, args }: SkewProposal): string {
  const params = Object.keys(role.params).length === 0 ? '' : ` ${JSON.stringify(role.params)}`;
  return `${role.name}${params} ${action} ${JSON.stringify(args)}`;
}
