import {
  anchorsOption,
  CliError,
  domainsNamed,
  EXIT,
  inSession,
  jsonOption,
  type KeyOptions,
  line,
  project,
  projectOptions,
  readAnchors,
  readWritFile,
  repeatable,
  requireRootKey,
  runtimeKeys,
  type SharedOptions,
  signerOption,
  withSharedOptions,
} from '@assize/command';
import type { Writ } from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import { generateKeys } from 'assize/internal/canon';
import type { WorldConfig } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import { Assize } from 'assize/internal/runtime';
import { shortId } from 'assize/internal/views';
import type { Command } from 'commander';

interface Options extends SharedOptions, Pick<KeyOptions, 'signer'> {
  readonly domain?: string;
  readonly anchors?: string;
  readonly initial?: Json;
  readonly writ: readonly string[];
  readonly note?: string;
  readonly override?: boolean;
}

export function create(program: Command): void {
  withSharedOptions(
    program
      .command('create')
      .description('create a trajectory of a domain')
      .argument('<trajectory>', 'id of the new trajectory')
      .option(
        '--domain <domain>',
        'its domain: one of the config or a shipped one, FILE, or NAME@FILE',
      )
      .option('--initial <json>', 'initial state (default: that of the domain)', jsonOption)
      .addOption(repeatable('--writ <file>', 'root writ that the first entry contains'))
      .option('--note <text>', 'note in the first entry')
      .option('--override', 'create it even if the state fails an invariant; recorded')
      .addOption(anchorsOption)
      .addOption(signerOption),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize create claims --domain expenses.ts\n' +
        '  assize create claims --domain expenses.ts --initial \'{"employees":{"ada":{}}}\'\n\n' +
        'A store that does not exist is created. A trajectory that exists is not changed: the command fails with exists.',
    )
    .action(
      inSession(
        async ({ json, out, storeUrl, withStore }, options: Options, trajectoryId: string) => {
          const writs = options.writ.flatMap(writsIn);
          const world = worldNamed(trajectoryId);
          const { initial = world?.initial, note = world?.note, override = false } = options;
          const domain = await oneDomain(
            options.domain ?? world?.domain ?? onlyDomain(trajectoryId),
          );
          return withStore('create', async (store) => {
            const anchors = anchorsFor(storeUrl, options);
            const assize = new Assize({
              store,
              domains: [domain],
              // A trajectory without writs needs no anchor.
              anchors: anchors.length > 0 ? anchors : [generateKeys().publicKey],
              ...(await projectOptions()),
              ...runtimeKeys(options),
            });
            const made = await assize.create(domain, {
              trajectoryId,
              writs,
              override,
              ...(initial !== undefined && { initial }),
              ...(note !== undefined && { note }),
            });
            const { name, version, hash } = domain;
            if (json)
              out.document({
                trajectory_id: made.id,
                entry_id: made.head,
                domain: { name, version, hash },
              });
            else
              out.line(line`${made.id} starts with ${shortId(made.head)}, of ${name}@${version}.`);
            await assize.close();
            return EXIT.ok;
          });
        },
      ),
    );
}

/** A writ with its ancestors, so the first entry has the whole chain. @throws CliError */
function writsIn(path: string): Writ[] {
  const { writ, chain } = readWritFile(path);
  return [writ, ...chain];
}

/** The trajectory in the config. */
function worldNamed(trajectoryId: string): WorldConfig | undefined {
  const worlds = project()?.worlds ?? {};
  return Object.hasOwn(worlds, trajectoryId) ? worlds[trajectoryId] : undefined;
}

/**
 * A local store without anchors gets a root key, unless the trajectory has writs of another one.
 * @throws CliError; ConfigError
 */
function anchorsFor(
  storeUrl: string,
  { anchors: file, writ }: Pick<Options, 'anchors' | 'writ'>,
): readonly string[] {
  const anchors = readAnchors(storeUrl, file);
  const needsRoot = anchors.length === 0 && writ.length === 0 && storeUrl.startsWith('sqlite:');
  return needsRoot ? [requireRootKey(storeUrl).publicKey] : anchors;
}

/** The name of the only domain of the config. @throws CliError `usage` */
function onlyDomain(trajectoryId: string): string {
  const names = [...new Set(project()?.domains.map(({ name }) => name))];
  if (names.length === 1) return names[0] as string;
  const worlds = `add ${trajectoryId} to the worlds of the config`;
  throw new CliError(
    'usage',
    `The domain is missing. Pass --domain NAME or FILE${project() ? `, or ${worlds}` : ''}.`,
  );
}

/** @throws CliError `ambiguous` for a file with several domains */
async function oneDomain(text: string): Promise<Domain> {
  const [domain, ...more] = await domainsNamed(text);
  if (domain !== undefined && more.length === 0) return domain;
  const names = [domain, ...more].map((one) => `${one?.name}@${one?.version}`).join(', ');
  throw new CliError(
    'ambiguous',
    `${text} has several domains: ${names}. Pass --domain NAME@FILE.`,
  );
}
