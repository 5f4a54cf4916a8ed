import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  bold,
  CliError,
  dim,
  EXIT,
  green,
  inSession,
  line,
  type Output,
  readText,
  red,
  type SharedOptions,
  withSharedOptions,
  writeNew,
  yellow,
} from '@assize/command';
import { shortTime } from 'assize/internal/views';
import type { Command } from 'commander';
import type { Mark } from '../drafting/marks.ts';
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
      .description(
        'review a drafted module, and accept it as a person: only then the module is written',
      )
      .argument('<dir>', 'folder with NAME.draft.ts')
      .option(
        '--as <principal>',
        'the accepting person, human:NAME; recorded (default: only show the draft)',
      )
      .option('--record <file>', 'ledger of the draft (default: NAME.draft.db in the folder)')
      .option('--force', 'overwrite existing files'),
  )
    .addHelpText(
      'after',
      'The command prints the changes of the scaffold, the places in them to read closely, and the findings that are left.\n' +
        'A draft whose file was changed is refused.\n' +
        'The acceptance is an approval in the ledger of the draft. The model cannot give it.\n\n' +
        'Examples:\n  assize-experiments ontology accept examples/domains/library\n  assize-experiments ontology accept examples/domains/library --as human:ada',
    )
    .action(
      inSession(async ({ json, out }, { as, record, force = false }: Options, folder: string) => {
        const name = draftIn(folder);
        const store = recordOf(folder, name, record);
        const text = readText(draftFile(folder, name));
        const { acceptDraft, submittedDraft } = await import('../index.ts');
        const draft = await submittedDraft(store, text);
        const review = await reviewOf(draft);
        if (!json) print(out, draft, review);
        const files = [
          [join(folder, `${name}.ts`), draft.text],
          [join(folder, `${name}.test.ts`), draft.tests],
        ] as const;
        if (draft.accepted !== undefined && !json)
          out.line(
            line`already accepted by ${draft.accepted.by} at ${shortTime(draft.accepted.at)}`,
          );
        if (as === undefined) {
          if (json) out.document(documentOf(draft, review));
          else if (draft.accepted === undefined)
            out.line(
              line`Accept it with: assize-experiments ontology accept ${folder} --as human:NAME`,
            );
          return EXIT.ok;
        }
        const changed = files.filter(([path, to]) => !existsSync(path) || readText(path) !== to);
        refuseOverwrite(changed, force);
        const accepted = await acceptDraft(store, text, as);
        writeNew(changed, force);
        if (json)
          out.document({ ...documentOf(accepted, review), files: files.map(([path]) => path) });
        else {
          if (draft.accepted === undefined)
            out.line(line`${green('accepted')} by ${accepted.accepted?.by ?? ''}`);
          for (const [path] of changed) out.line(line`${path} written`);
        }
        return EXIT.ok;
      }),
    );
}

/** Before the acceptance is recorded, so that nothing is half done. @throws CliError `usage` */
function refuseOverwrite(
  files: readonly (readonly [path: string, text: string])[],
  force: boolean,
): void {
  const there = files.map(([path]) => path).filter((path) => existsSync(path));
  if (force || there.length === 0) return;
  throw new CliError(
    'usage',
    `The command would overwrite ${there.join(', ')}. Move the files, or pass --force.`,
  );
}

/** The changes of the scaffold, and the places in them at which a reader stops. */
interface Review {
  readonly changes: readonly DiffLine[];
  readonly marks: readonly Mark[];
}

async function reviewOf({ scaffold, text }: SubmittedDraft): Promise<Review> {
  const { marksOf } = await import('../drafting/marks.ts');
  const changes = lineDiff(scaffold, text).filter(({ sign }) => sign !== ' ');
  const added = new Set(changes.filter(({ sign }) => sign === '+').map((one) => one.text));
  const lines = text.split('\n');
  return {
    changes,
    marks: (await marksOf(text)).filter(({ line: at }) => added.has(lines[at - 1] ?? '')),
  };
}

function documentOf(
  { scaffold: _, text: _text, tests: _tests, ...draft }: SubmittedDraft,
  review: Review,
): object {
  return { ...draft, ...review };
}

function print(
  out: Output,
  { findings, model, module }: SubmittedDraft,
  { changes, marks }: Review,
): void {
  out.line(line`${bold('Changes of the scaffold')} by ${model}`);
  for (const one of changes) out.line(diffText(one));
  out.line(line``);
  if (marks.length > 0) {
    out.line(
      line`${bold('Read closely')}: code that waits for a state recognises it at such a place`,
    );
    for (const { line: at, kind, source } of marks)
      out.line(line`  line ${at}  ${yellow(kind)}  ${source}`);
    out.line(line``);
  }
  out.line(line`${bold('Findings')}: ${findings.length === 0 ? 'none' : 'warnings only'}`);
  printFindings(out, findings);
  out.line(line`${dim('hash')} ${module}`);
}

function diffText({ sign, text }: DiffLine) {
  return sign === '+' ? line`${green('+')} ${text}` : line`${red('-')} ${text}`;
}
