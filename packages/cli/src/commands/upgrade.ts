import {
  anchorsOption,
  CliError,
  domainsNamed,
  EXIT,
  type ExitCode,
  entryKeyOption,
  ephemeralWrit,
  green,
  headOf,
  importModule,
  inSession,
  type KeyOptions,
  keyOrRoot,
  line,
  loadDomains,
  noOverrideText,
  project,
  red,
  replayerOf,
  requireAnchor,
  type Session,
  type SharedOptions,
  signerOption,
  withAssize,
  withSharedOptions,
  yellow,
} from '@assize/command';
import {
  type Domain,
  type Migration,
  rulesWithoutOverride,
  UPGRADE_ACTION,
  upgradeScope,
} from 'assize/internal/kernel';
import type { DomainRef } from 'assize/internal/ledger';
import type { Upgrade } from 'assize/internal/runtime';
import { counted, shortId } from 'assize/internal/views';
import type { Command } from 'commander';

interface Options extends SharedOptions, KeyOptions {
  readonly domain?: string;
  readonly reason: string;
  readonly key?: string;
  readonly principal: string;
  readonly override?: string;
  readonly dryRun?: boolean;
  readonly anchors?: string;
}

export function upgrade(program: Command): void {
  withSharedOptions(
    program
      .command('upgrade')
      .description('continue a trajectory under another version of its domain')
      .argument('<trajectory>', 'trajectory to upgrade')
      .requiredOption('--reason <text>', 'reason for the upgrade; stays in the ledger')
      .option(
        '--domain <file>',
        'module that exports the new version, and perhaps a function migrate(state) (default: the domain of the config)',
      )
      .option(
        '--key <file>',
        'private key of an anchor: 64 hex digits (default: the root key of the store)',
      )
      .option(
        '--principal <name>',
        'the upgrading principal, subject of the short-lived writ',
        'operator',
      )
      .option(
        '--override <counselor>',
        'counselor that commits although rules of the new version do not pass',
      )
      .option('--dry-run', 'print what the upgrade would do, and record nothing')
      .addOption(anchorsOption)
      .addOption(signerOption)
      .addOption(entryKeyOption),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize upgrade expenses --reason "higher limit" --dry-run\n' +
        '  assize upgrade expenses --domain domains/expenses.ts --reason "a note for each payment"\n\n' +
        'Negative: the upgrade is refused, or would be refused.\n' +
        'The function migrate changes the state in place. The ledger records the changes.\n' +
        'Without --domain, the config names it: migrations: { expenses: migrate }.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string) => {
        const key = keyOrRoot(session.storeUrl, options);
        requireAnchor(session.storeUrl, options.anchors, key, 'to upgrade');
        return session.withStore('existing', async (store) => {
          const head = await headOf(store, trajectoryId);
          const now = await replayerOf(session, store).domainAt(trajectoryId, head.id);
          const file = options.domain;
          const next =
            file === undefined ? await otherVersion(now) : await versionIn(file, now.name);
          const { principal, reason, override, dryRun = false } = options;
          const opening = { ...options, domain: file === undefined ? [] : [file] };
          const migrate =
            file === undefined ? project()?.migrations[now.name] : await migrationIn(file);
          const done = await withAssize(store, session.storeUrl, opening, (assize) =>
            assize.upgrade(trajectoryId, next, {
              writ: ephemeralWrit(
                head,
                { action: UPGRADE_ACTION, scopes: [upgradeScope(next)], principal },
                key,
              ),
              reason,
              dryRun,
              ...(migrate === undefined ? {} : { migrate }),
              ...(override === undefined
                ? {}
                : { override: { principal: override, method: 'cli' } }),
            }),
          );
          return say(
            session,
            trajectoryId,
            done,
            dryRun || (override && done.refused) ? rulesWithoutOverride(next) : [],
          );
        });
      }),
    );
}

/** The only other version among the domains of the config and the shipped ones. @throws CliError */
async function otherVersion(now: DomainRef): Promise<Domain> {
  const found = (await loadDomains()).filter(
    ({ name, hash }) => name === now.name && hash !== now.hash,
  );
  const [version, ...more] = found;
  if (version !== undefined && more.length === 0) return version;
  const place = project()?.file ?? 'The project';
  const has =
    version === undefined
      ? `no other version of ${now.name}`
      : `${found.length} versions of ${now.name}`;
  throw new CliError(
    'usage',
    `${place} has ${has} than ${named(now)}. Raise version in its file, or pass the new one with --domain FILE.`,
  );
}

/** The only domain of that name in a file. @throws CliError */
async function versionIn(file: string, name: string): Promise<Domain> {
  const found = await domainsNamed(file);
  const [version, ...more] = found.filter((domain) => domain.name === name);
  if (version !== undefined && more.length === 0) return version;
  const has =
    version === undefined
      ? `exports no version of ${name}`
      : `exports ${more.length + 1} versions of ${name}`;
  throw new CliError('bad_input', `The file ${file} ${has}. Export the new version only.`);
}

/** @throws CliError */
async function migrationIn(file: string): Promise<Migration | undefined> {
  const { migrate } = (await importModule(file, 'domain', 'Name a domain file')) as {
    readonly migrate?: unknown;
  };
  if (migrate === undefined || typeof migrate === 'function')
    return migrate as Migration | undefined;
  throw new CliError(
    'bad_input',
    `The export migrate of ${file} is not a function. Export a function of the state.`,
  );
}

/** `finals`: rules of the new version that decide for good where a person could override before. */
function say(
  { json, out }: Session,
  trajectoryId: string,
  done: Upgrade,
  finals: readonly string[],
): ExitCode {
  const { ruling, refused, from, to, patches, vector, carried, closed } = done;
  const code = refused === undefined ? EXIT.ok : EXIT.negative;
  if (json) {
    const place = ruling === undefined || ruling.ruling === 'frozen' ? undefined : ruling.entry;
    out.document({
      ruling: refused === undefined ? 'committed' : 'rejected',
      dry_run: ruling === undefined,
      trajectory_id: trajectoryId,
      ...(place === undefined ? {} : { seq: place.seq, entry_id: place.id }),
      from,
      to,
      ...(finals.length === 0 ? {} : { not_overridable: finals }),
      ...(refused === undefined
        ? { patches, vector, carried, closed }
        : {
            reason: refused.reason,
            detail: refused.detail,
            invariant_id: refused.invariantId ?? null,
          }),
    });
    return code;
  }
  const would = ruling === undefined ? 'would be ' : '';
  if (refused !== undefined) {
    out.line(
      line`${would}${red('rejected')}: ${refused.detail} (${refused.invariantId ?? refused.reason})`,
    );
    if (finals.length > 0) out.line(line`  ${noOverrideText(finals)}`);
    return code;
  }
  const by =
    ruling === undefined || ruling.ruling === 'frozen' ? '' : `, by ${shortId(ruling.entry.id)}`;
  out.line(
    line`${would}${green('upgraded')} from ${named(from)} to ${named(to)}, with ${counted(patches.length, 'change')}${by}`,
  );
  for (const { op, path } of patches) out.line(line`  ${op} ${path}`);
  for (const { invariant_id, detail = '' } of vector.filter(({ result }) => result !== 'pass'))
    out.line(line`  ${yellow('overridden')} ${invariant_id}: ${detail}`);
  for (const id of carried) out.line(line`  ${shortId(id)} stays pending`);
  for (const { id, detail } of closed)
    out.line(line`  ${shortId(id)} ${yellow('is closed')}: ${detail}`);
  if (finals.length > 0) out.line(line`  ${noOverrideText(finals)}`);
  return code;
}

function named({ name, version, hash }: DomainRef): string {
  return `${name}@${version} (${hash.slice(0, 12)})`;
}
