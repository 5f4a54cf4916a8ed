/**
 * The process that runs a drafted module (`trial.ts`): reads its work from standard input, and
 * prints the findings. Started with Node's permission model.
 */
import { Socket as UdpSocket } from 'node:dgram';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { Server, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { errorMessage } from 'assize/internal/base';
import { type DraftFinding, fewFindings } from './finding.ts';
import { judgeDomain } from './judge.ts';
import type { TrialWork } from './trial.ts';

const DRAFT = 'draft:module';
/** The modules that a draft imports. */
const IMPORTS: ReadonlySet<string> = new Set(['assize', 'zod']);

const work = JSON.parse(await text(process.stdin)) as TrialWork;
// Taken before the draft runs, so that a replaced function is not called.
const print = process.stdout.write.bind(process.stdout);
const { stringify } = JSON;
closeDoors();
const findings = await findingsOf(work);
print(`${work.mark}${stringify({ findings: fewFindings(findings) })}${work.mark}`);

async function findingsOf({ source, exportName, ontology, examples }: TrialWork): Promise<DraftFinding[]> {
  let domain: unknown;
  try {
    const module = (await loaded(stripTypeScriptTypes(source))) as Readonly<Record<string, unknown>>;
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
      return next(specifier, { ...context, parentURL: import.meta.url });
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

/**
 * Node's permission model has no rule for the network, so the functions that open a connection
 * throw, and the ways to other modules are removed. The allowed source of a draft names none of
 * them; this is a second lock.
 */
function closeDoors(): void {
  const refuse = (): never => {
    throw new Error('A draft opens no connection.');
  };
  Object.assign(Socket.prototype, { connect: refuse });
  Object.assign(Server.prototype, { listen: refuse });
  Object.assign(UdpSocket.prototype, { bind: refuse, connect: refuse, send: refuse });
  for (const name of ['fetch', 'WebSocket', 'EventSource']) Reflect.deleteProperty(globalThis, name);
  for (const name of ['getBuiltinModule', 'binding', '_linkedBinding', 'dlopen', 'kill'])
    Object.defineProperty(process, name, { value: undefined, configurable: false });
}
