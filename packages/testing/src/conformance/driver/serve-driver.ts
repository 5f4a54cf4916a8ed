import { flushCompileCache } from 'node:module';
import { createInterface } from 'node:readline';
import { arg, checkArgument, isInstance } from 'assize/internal/base';
import {
  type Answers,
  type DriverIdentity,
  type DriverSettings,
  type Operation,
  type Progress,
  REQUESTS,
  requestLine,
  type WaitingCall,
  type WantedCall,
} from '../protocol/messages.ts';
import type { Effect } from '../sink/effect.ts';
import { type EffectOptions, sendEffect } from './effect-of.ts';

/** The place of a driver, as the suite tells it in `hello`. */
export interface DriverSetup {
  /** The folder of everything that has to survive this process. */
  readonly folder: string;
  /** The address of the sink. */
  readonly sink: string;
  readonly settings: DriverSettings;
  /**
   * The whole body of a tool: one request to the sink, with the time-out of the settings. Returns
   * the text for the model, and throws if the sink does not answer.
   */
  effect(effect: Effect, options?: Pick<EffectOptions, 'signal'>): Promise<string>;
}

type Step<Given> = (given: Given) => Promise<Progress>;

/**
 * The operations of a driver. An error of `start`, `resume`, `retry` or `fork` is a run that
 * failed. An operation that is missing has its reason in `cannot`.
 */
export interface DriverHandlers extends Omit<DriverIdentity, 'cannot'> {
  readonly cannot?: DriverIdentity['cannot'];
  /** The mock model asks for exactly these calls, in one message. */
  readonly start: Step<{ readonly run: string; readonly calls: readonly WantedCall[] }>;
  /** Hands the answers to the framework as they are. The driver adds no check of its own. */
  readonly resume: Step<{ readonly run: string; readonly answers: Answers }>;
  /** Goes on with a run that was interrupted, as the framework says to, without a new answer. */
  readonly retry?: Step<{ readonly run: string }>;
  /** Goes on from before the calls of the last message. */
  readonly fork?: Step<{ readonly run: string }>;
  /**
   * Gives a call another tool and other arguments in the stored state, with the access that this
   * process has. Returns the number of changed places.
   */
  readonly tamper?: (
    given: Pick<WantedCall, 'tool' | 'args'> & {
      readonly run: string;
      readonly call: string;
    },
  ) => Promise<number>;
  /** The calls that wait, as a person is shown them now. */
  readonly shown?: (given: { readonly run: string }) => Promise<readonly WaitingCall[]>;
  /**
   * Ends a run. One that failed takes back what it has done. Returns the ids of the calls that
   * stay.
   */
  readonly end?: (given: {
    readonly run: string;
    readonly failed: boolean;
  }) => Promise<readonly string[]>;
}

/**
 * Serves a driver over standard input and output, and ends the process with its input. The first
 * line of the suite is `hello`, with which the handlers are made. Output of the framework goes to
 * standard error.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function serveDriver(
  handlersOf: (setup: DriverSetup) => Promise<DriverHandlers>,
): Promise<void> {
  checkArgument(arg.code, handlersOf, 'handlersOf');
  const write = process.stdout.write.bind(process.stdout);
  // Lines of the framework do not belong to the protocol.
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  let handlers: DriverHandlers | undefined;
  for await (const line of createInterface({ input: process.stdin })) {
    const request: unknown = JSON.parse(line);
    const { id, op } = requestLine.parse(request);
    void answered(op, request, {
      made: async (setup) => {
        handlers = await handlersOf(setup);
        return handlers;
      },
      get: () => handlers,
    })
      .then((answer) => ({ id, answer }))
      .catch((error: unknown) => ({ id, error: textOf(error) }))
      .then((reply) => void write(`${JSON.stringify(reply)}\n`));
  }
  // A hook that never answers, or a store that is open, does not keep the process.
  process.exit();
}

interface Made {
  readonly made: (setup: DriverSetup) => Promise<DriverHandlers>;
  readonly get: () => DriverHandlers | undefined;
}

async function answered(op: Operation, request: unknown, { made, get }: Made): Promise<unknown> {
  if (op === 'hello') {
    const { folder, sink, settings } = REQUESTS.hello.parse(request);
    const effect: DriverSetup['effect'] = (given, options) =>
      sendEffect(sink, given, { ...options, timeoutMs: settings.timeoutMs });
    const { name, versions, cannot = {} } = await made({ folder, sink, settings, effect });
    // The suite kills this process, so that its end writes nothing.
    flushCompileCache();
    return { name, versions, cannot };
  }
  const handlers = get();
  if (handlers === undefined) throw new Error('the first line has to be hello');
  if (op === 'tamper')
    return { changed: await needed(handlers, 'tamper')(REQUESTS.tamper.parse(request)) };
  if (op === 'shown')
    return { waiting: await needed(handlers, 'shown')(REQUESTS.shown.parse(request)) };
  if (op === 'end') return { left: await needed(handlers, 'end')(REQUESTS.end.parse(request)) };
  const step = needed(handlers, op) as Step<unknown>;
  const given = REQUESTS[op].parse(request);
  try {
    return await step(given);
  } catch (error) {
    return { state: 'failed', error: textOf(error) };
  }
}

function needed<Name extends Exclude<Operation, 'hello'>>(
  handlers: DriverHandlers,
  name: Name,
): NonNullable<DriverHandlers[Name]> {
  const handler = handlers[name];
  if (handler === undefined) throw new Error(`the driver has no ${name}`);
  return handler as NonNullable<DriverHandlers[Name]>;
}

function textOf(error: unknown): string {
  return isInstance(error, Error) ? `${error.name}: ${error.message}` : String(error);
}
