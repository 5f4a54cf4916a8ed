import { rmSync } from 'node:fs';
import {
  anchoredRoot,
  CliError,
  EXIT,
  inSession,
  line,
  type OpeningOptions,
  printRuling,
  readText,
  replaceFile,
  requireLocal,
  type SharedOptions,
  withOpeningOptions,
} from '@assize/command';
import { contentHash, type Instant } from 'assize/internal/canon';
import { systemClock, systemRandom } from 'assize/internal/oracle';
import type { Command } from 'commander';
import { NewestRules, rulesReport } from '#calls';
import { type Rules, readRules, rulesDigest, trialFileOf } from '#gateway';
import { gatewayTrajectories } from '../open-calls.ts';
import { proposeAs } from '../require-person.ts';
import { rulesFileIn, rulesFileNamed, trialBeside } from '../rules-files.ts';
import { sinceOption } from './report.ts';

interface Options extends SharedOptions, OpeningOptions {
  readonly as: string;
  readonly since: Instant;
}

export function promote(command: Command): void {
  withOpeningOptions(
    command
      .command('promote')
      .description('put in force what a trial set, or an observing file, has only judged')
      .argument('[file]', 'rules file (default: that of the configuration)')
      .requiredOption('--as <principal>', 'the person who approves it; recorded')
      .addOption(sinceOption()),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize rules promote assize.yaml --as human:grace\n\n' +
        'Of FILE.yaml with FILE.trial.yaml beside it, the trial set takes the place of the rules. Otherwise the lines\n' +
        'mode, until and agents of FILE.yaml go, so that it holds. The ledger has who promoted it, from which rules,\n' +
        'and the digest of the report since --since.\n' +
        'Negative: the rules were changed meanwhile, or have not judged here.',
    )
    .action(
      inSession((session, { as: by, since, ...options }: Options, named?: string) => {
        requireLocal(session.storeUrl, 'promote on the machine of its server');
        const file = rulesFileNamed(named);
        const { text, rules, trialFile } = promoted(file);
        const root = anchoredRoot(session.storeUrl);
        return session.withStore('existing', async (store) => {
          for (const id of await gatewayTrajectories(store)) {
            const report = contentHash({ ...(await rulesReport(store, [id], since)) } as never);
            const ruling = await proposeAs(session, store, options, {
              ...{ trajectory: id, principal: by, action: 'configure', work: 'promote rules' },
              args: ({ rules: { runs, digest: from } }) => ({
                ...{ rules, runs: [...runs], promoted: { by, from, report } },
              }),
            });
            if (ruling.ruling !== 'committed') return printRuling(session, ruling);
            if (!session.json)
              session.out.line(
                line`${id}: ${rules.id} is in force. The report is ${report.slice(0, 12)}.`,
              );
          }
          // A server that runs with the earlier file leaves these rules alone.
          await new NewestRules(store, root, systemRandom).claim(
            rulesDigest(rules),
            systemClock.now(),
          );
          replaceFile(file, text);
          if (trialFile !== undefined) rmSync(trialFile);
          if (session.json)
            session.out.document({ file, rules: rules.id, digest: rulesDigest(rules) });
          else session.out.line(line`${file} has them.`);
          return EXIT.ok;
        });
      }),
    );
}

/** The text of the file with the rules that only judged before. @throws CliError */
function promoted(file: string): {
  readonly text: string;
  readonly rules: Rules;
  readonly trialFile?: string;
} {
  const trial = trialBeside(file);
  const source = trial === undefined ? file : trialFileOf(file);
  const { mode, until: _, agents: __, ...rules } = rulesFileIn(source).rules;
  if (mode !== 'observe')
    throw new CliError(
      'usage',
      `${file} is already enforced, and there is no ${trialFileOf(file)}. Write mode: observe into it, or a trial set beside it.`,
    );
  const text = readText(source).replace(/^(?:mode|until|agents):.*\n(?:(?:[ \t]+|- ).*\n)*/gm, '');
  if (rulesDigest(readRules(text, source).rules) !== rulesDigest(rules))
    throw new CliError(
      'bad_input',
      `${source} has mode, until or agents in another form than one line each. Write them so, and repeat the command.`,
    );
  return { text, rules, ...(trial !== undefined && { trialFile: source }) };
}
