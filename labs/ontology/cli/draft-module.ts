import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  CliError,
  EXIT,
  type ExitCode,
  green,
  Interrupted,
  line,
  makeFolder,
  type Output,
  type Printable,
  readText,
  red,
  type Session,
  writeNew,
  yellow,
} from '@assize/command';
import { isInstance, unlessAborted } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import { counted } from 'assize/internal/views';
import { requireShortReference } from '../drafting/reference.ts';
import type { DraftFinding, DraftRound, Ontology } from '../index.ts';
import { draftFile, recordOf } from './draft-files.ts';
import type { NamedModel } from './model.ts';

export interface DraftCliOptions {
  readonly rounds?: number;
  readonly bfo?: string;
  readonly record?: string;
  readonly timeLimit?: number;
  readonly force?: boolean;
}

/**
 * Drafts a module with a model, records it, and writes the best draft. Returns 1 if errors are
 * left.
 */
export async function draftInto(
  { json, out, interruption }: Session,
  { rounds, bfo, record, timeLimit, force = false }: DraftCliOptions,
  ontology: Ontology,
  folder: string,
  { model, name: modelVersion }: NamedModel,
): Promise<ExitCode> {
  const { recordDraft, scaffold } = await import('../index.ts');
  const { recordedModules } = await import('../drafting/record.ts');
  const reference = bfo === undefined ? undefined : readText(bfo);
  requireShortReference(reference);
  const name = ontology.domain;
  const file = draftFile(folder, name);
  const store = recordOf(folder, name, record);
  const options = {
    ...{ store, model, modelVersion },
    ...(rounds !== undefined && { rounds }),
    ...(reference !== undefined && { reference }),
    ...(timeLimit !== undefined && { timeLimitSeconds: timeLimit }),
  };
  if (!force) requireOwnFile(file, await recordedModules(ontology, options));
  makeFolder(folder);
  let done = 0;
  const drafting = recordDraft(ontology, {
    ...options,
    onRound: (round) => {
      done++;
      if (!json) printRound(out, round);
    },
  });
  const draft = await unlessAborted(drafting, interruption).catch((error: unknown) => {
    if (!isInstance(error, Interrupted)) throw error;
    throw new Interrupted(
      error.signal,
      true,
      `${counted(done, 'round')} ${done === 1 ? 'is' : 'are'} recorded`,
    );
  });
  const { best, ok, trajectory } = draft;
  const files = best === undefined ? [] : [[file, best.text] as const];
  const readme = join(folder, 'README.md');
  if (!existsSync(readme)) files.push([readme, scaffold(ontology).get('README.md') ?? '']);
  writeNew(withoutUnchanged(files), force);
  if (json) {
    const { text: _text, tests: _tests, ...round } = best ?? {};
    out.document({
      ok,
      trajectory,
      store,
      rounds: draft.rounds,
      ...(best && { file, best: round }),
    });
  } else printEnd(out, ok, best === undefined ? undefined : file, folder);
  return ok ? EXIT.ok : EXIT.negative;
}

/**
 * Refuses to overwrite a file before a model is asked. A draft that the record of the same drafting
 * has is written again.
 *
 * @throws CliError `usage`
 */
function requireOwnFile(file: string, modules: ReadonlySet<string>): void {
  if (!existsSync(file) || modules.has(hashText(readText(file)))) return;
  throw new CliError(
    'usage',
    `The command would overwrite ${file}. Move the file, or pass --force.`,
  );
}

/** A file that has its text already is not written again. */
function withoutUnchanged(files: readonly (readonly [path: string, text: string])[]) {
  return files.filter(([path, text]) => !existsSync(path) || readText(path) !== text);
}

function printRound(out: Output, { round, findings }: DraftRound): void {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const said = errors === 0 ? green('no error') : red(counted(errors, 'error'));
  out.line(line`round ${round}: ${said}, ${counted(findings.length - errors, 'warning')}`);
  printFindings(out, findings);
}

export function printFindings(out: Output, findings: readonly DraftFinding[]): void {
  for (const { check, severity, where, says } of findings) {
    const level: Printable = severity === 'error' ? red('error  ') : yellow('warning');
    out.line(line`  ${level}  ${check}  ${where}: ${says}`);
  }
}

function printEnd(out: Output, ok: boolean, file: string | undefined, folder: string): void {
  if (file !== undefined) out.line(line`${file} written`);
  if (ok) out.line(line`Review the draft with: assize-experiments ontology accept ${folder}`);
  else out.line(line`The draft cannot be accepted. Ask another model, or allow more --rounds.`);
}
