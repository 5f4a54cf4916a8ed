/**
 * The process that runs a drafted module (`trial.ts`): reads its work from standard input, and
 * prints the findings. Started with Node's permission model.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { errorMessage } from 'assize/internal/base';
import { closeDoors } from './close-doors.ts';
import { type DraftFinding, fewFindings } from './finding.ts';
import { judgeDomain } from './judge.ts';
import type { TrialWork } from './trial.ts';

const DRAFT = 'draft:module';
/** The modules that a draft imports. `draft-imports.ts` stands for both. */
const IMPORTS: ReadonlySet<string> = new Set(['assize', 'zod']);

// Files 0 and 1, and no stream of `process`: a stream would bring its handle into this process.
const work = JSON.parse(readFileSync(0, 'utf8')) as TrialWork;
// Taken before the draft runs, so that a replaced function is not called.
const { stringify } = JSON;
const exit = process.exit.bind(process);
closeDoors();
const findings = await findingsOf(work);
writeFileSync(1, `${work.mark}${stringify({ findings: fewFindings(findings) })}${work.mark}`);
exit(0);

async function findingsOf({
  source,
  exportName,
  ontology,
  examples,
}: TrialWork): Promise<DraftFinding[]> {
  let domain: unknown;
  try {
    const module = (await loaded(stripTypeScriptTypes(source))) as Readonly<
      Record<string, unknown>
    >;
    domain = module[exportName];
  } catch (error) {
    const says = errorMessage(error) ?? 'the module throws when it is loaded';
    return [{ check: 'definition', severity: 'error', where: 'module', says }];
  }
  return judgeDomain(domain as never, ontology, examples);
}

/** Loads the module from memory. After it, no module can be loaded. */
async function loaded(source: string): Promise<object> {
  let isLoaded = false;
  registerHooks({
    resolve: (specifier, context, next) => {
      if (isLoaded) throw new Error('A draft loads no module.');
      if (specifier === DRAFT) return { url: DRAFT, format: 'module', shortCircuit: true };
      if (context.parentURL !== DRAFT) return next(specifier, context);
      if (!IMPORTS.has(specifier)) throw new Error(`A draft does not import ${specifier}.`);
      return next('./draft-imports.ts', { ...context, parentURL: import.meta.url });
    },
    load: (url, context, next) =>
      url === DRAFT ? { format: 'module', source, shortCircuit: true } : next(url, context),
  });
  try {
    return (await import(DRAFT)) as object;
  } finally {
    isLoaded = true;
  }
}
