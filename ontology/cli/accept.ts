import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CliError, EXIT } from 'assize/internal/cli/errors.ts';
import { readText } from 'assize/internal/cli/files/input-file.ts';
import { withSharedOptions } from 'assize/internal/cli/files/options.ts';
import { writeNew } from 'assize/internal/cli/files/write-file.ts';
import { inSession, type SharedOptions } from 'assize/internal/cli/store/session.ts';
import type { Output } from 'assize/internal/cli/terminal/output.ts';
import { bold, dim, green, line, red } from 'assize/internal/cli/terminal/printable.ts';
import { shortTime } from 'assize/internal/views';
import type { Command } from 'commander';
import type { SubmittedDraft } from '../index.ts';
import { draftFile, draftIn, recordOf } from './draft-files.ts';
import { printFindings } from './draft-module.ts';
import { type DiffLine, lineDiff } from './line-diff.ts';

interface Options extends SharedOptions {
  readonly as?: string;
  readonly record?: string;
  readonly force?: boolean;
}

export function acceptDraftCommand(command: Command): void {
  withSharedOptions(
    command
      .command('accept')
      .description('review a drafted module, and accept it as a person: only then the module is written')
      .argument('<dir>', 'folder with NAME.draft.ts')
      .option('--as <principal>', 'the accepting person, human:NAME; recorded (default: only show the draft)')
      .option('--record <file>', 'ledger of the draft (default: NAME.draft.db in the folder)')
      .option('--force', 'overwrite existing files'),
  )
    .addHelpText(
      'after',
      'The command prints the changes of the scaffold and the findings that are left. A draft whose file was changed is refused.\n' +
        'The acceptance is an approval in the ledger of the draft. The model cannot give it.\n\n' +
        'Examples:\n  assize ontology accept domains/library\n  assize ontology accept domains/library --as human:ada',
    )
    .action(
      inSession(async ({ json, out }, { as, record, force = false }: Options, folder: string) => {
        const name = draftIn(folder);
        const store = recordOf(folder, name, record);
        const text = readText(draftFile(folder, name));
        const { acceptDraft, submittedDraft } = await import('../index.ts');
        const draft = await submittedDraft(store, text);
        if (!json) print(out, draft);
        const files = [
          [join(folder, `${name}.ts`), draft.text],
          [join(folder, `${name}.test.ts`), draft.tests],
        ] as const;
        if (draft.accepted !== undefined && !json)
          out.line(line`already accepted by ${draft.accepted.by} at ${shortTime(draft.accepted.at)}`);
        if (as === undefined) {
          if (json) out.document(documentOf(draft));
          else if (draft.accepted === undefined)
            out.line(line`Accept it with: assize ontology accept ${folder} --as human:NAME`);
          return EXIT.ok;
        }
        const changed = files.filter(([path, to]) => !existsSync(path) || readText(path) !== to);
        refuseOverwrite(changed, force);
        const accepted = await acceptDraft(store, text, as);
        writeNew(changed, force);
        if (json) out.document({ ...documentOf(accepted), files: files.map(([path]) => path) });
        else {
          if (draft.accepted === undefined) out.line(line`${green('accepted')} by ${accepted.accepted?.by ?? ''}`);
          for (const [path] of changed) out.line(line`${path} written`);
        }
        return EXIT.ok;
      }),
    );
}

/** Before the acceptance is recorded, so that nothing is half done. @throws CliError `usage` */
function refuseOverwrite(files: readonly (readonly [path: string, text: string])[], force: boolean): void {
  const there = files.map(([path]) => path).filter((path) => existsSync(path));
  if (force || there.length === 0) return;
  throw new CliError('usage', `The command would overwrite ${there.join(', ')}. Move the files, or pass --force.`);
}

function documentOf({ scaffold, text, tests: _tests, ...draft }: SubmittedDraft): object {
  return { ...draft, changes: lineDiff(scaffold, text).filter(({ sign }) => sign !== ' ') };
}

function print(out: Output, { scaffold, text, findings, model, module }: SubmittedDraft): void {
  out.line(line`${bold('Changes of the scaffold')} by ${model}`);
  for (const one of lineDiff(scaffold, text)) if (one.sign !== ' ') out.line(diffText(one));
  out.line(line``);
  out.line(line`${bold('Findings')}: ${findings.length === 0 ? 'none' : 'warnings only'}`);
  printFindings(out, findings);
  out.line(line`${dim('hash')} ${module}`);
}

function diffText({ sign, text }: DiffLine) {
  return sign === '+' ? line`${green('+')} ${text}` : line`${red('-')} ${text}`;
}
