import type { Command } from 'commander';
import type { Writ } from '#authority';
import type { Json } from '#base';
import { generateKeys } from '#canon';
import type { Domain } from '#kernel';
import { Assize } from '#runtime';
import { shortId } from '#views';
import { CliError, EXIT } from '../errors.ts';
import { anchorsOption, type KeyOptions, repeatable, signerOption, withSharedOptions } from '../files/options.ts';
import { jsonOption } from '../input/json-option.ts';
import { readWritFile } from '../input/writ-file.ts';
import { readAnchors } from '../store/anchors.ts';
import { domainsNamed } from '../store/domains.ts';
import { runtimeKeys } from '../store/runtime.ts';
import { inSession, type SharedOptions } from '../store/session.ts';
import { line } from '../terminal/printable.ts';

interface Options extends SharedOptions, Pick<KeyOptions, 'signer'> {
  readonly domain: string;
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
      .requiredOption('--domain <domain>', 'its domain: a shipped one, FILE, or NAME@FILE')
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
      inSession(({ json, out, storeUrl, withStore }, options: Options, trajectoryId: string) => {
        const writs = options.writ.flatMap(writsIn);
        const { initial, note, override = false } = options;
        return withStore('create', async (store) => {
          const domain = await oneDomain(options.domain);
          const anchors = readAnchors(storeUrl, options.anchors);
          const assize = new Assize({
            store,
            domains: [domain],
            // A trajectory without writs needs no anchor.
            anchors: anchors.length > 0 ? anchors : [generateKeys().publicKey],
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
          if (json) out.document({ trajectory_id: made.id, entry_id: made.head, domain: { name, version, hash } });
          else out.line(line`${made.id} starts with ${shortId(made.head)}, of ${name}@${version}.`);
          await assize.close();
          return EXIT.ok;
        });
      }),
    );
}

/** A writ with its ancestors, so the first entry has the whole chain. @throws CliError */
function writsIn(path: string): Writ[] {
  const { writ, chain } = readWritFile(path);
  return [writ, ...chain];
}

/** @throws CliError `ambiguous` for a file with several domains */
async function oneDomain(text: string): Promise<Domain> {
  const [domain, ...more] = await domainsNamed(text);
  if (domain !== undefined && more.length === 0) return domain;
  const names = [domain, ...more].map((one) => `${one?.name}@${one?.version}`).join(', ');
  throw new CliError('ambiguous', `${text} has several domains: ${names}. Pass --domain NAME@FILE.`);
}
