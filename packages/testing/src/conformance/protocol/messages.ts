import type { Json } from 'assize/internal/base';
import { z } from 'zod';

/** The version of the protocol in `hello`. */
export const PROTOCOL = 1;

/** The abilities that a driver may lack, each with its reason. */
export const ABILITIES = [
  /** Its state survives the end of a process. */
  'restart',
  /** The arguments in the stored state can be changed. */
  'tamper',
  /** A run can go on from before its calls. */
  'fork',
  /** A run that was interrupted can go on. */
  'retry',
  /** A run can have another message with calls. */
  'turns',
  /** Of several calls in one message, some ask and others do not. */
  'siblings',
  /** Several calls that ask all wait together. */
  'together',
  /** A question expires. */
  'expiry',
  /** A function of the program takes part in the decision. */
  'hook',
  /** The calls that wait can be read without an answer. */
  'shown',
  /** An approval names the person that gives it. */
  'person',
  /** A run reads and changes values by several messages, and comes to an end. */
  'ends',
  /** A run that fails takes back what it has done. */
  'undo',
] as const;

export type Ability = (typeof ABILITIES)[number];

/** The operations of the protocol. */
export type Operation =
  | 'hello'
  | 'start'
  | 'resume'
  | 'retry'
  | 'fork'
  | 'tamper'
  | 'shown'
  | 'end';

/**
 * The tools of every driver: `pay` and `refund` ask a person, and the others are made without one.
 * `get` reads a value, and `set` changes it.
 */
export const TOOLS = ['pay', 'refund', 'note', 'get', 'set'] as const;

export type ToolName = (typeof TOOLS)[number];

const json: z.ZodType<Json> = z.json() as z.ZodType<Json>;
const args = z.record(z.string(), json);
const name = z.string().min(1).max(200);

const call = z.object({ id: name, tool: z.enum(TOOLS), args });

/** A call for which the mock model asks. */
export interface WantedCall {
  readonly id: string;
  readonly tool: ToolName;
  readonly args: Readonly<Record<string, Json>>;
}

const answer = z.union([
  z.null(),
  z.object({ decision: json.optional(), person: json.optional() }),
]);

/** The answer of a person about a call. Every other value decides nothing. */
export type PersonAnswer = {
  /** `approve` or `reject`. */
  readonly decision?: Json | undefined;
  /** The person, as the program has authenticated them, such as `manager:grace`. */
  readonly person?: Json | undefined;
} | null;

/** The answers by the ids of the calls that they are about. */
export type Answers = Readonly<Record<string, PersonAnswer>>;

const settings = z.object({
  expiresMs: z.number().int().positive().optional(),
  timeoutMs: z.number().int().positive().optional(),
  hook: z.enum(['silent', 'word', 'object']).optional(),
  silentMs: z.number().int().positive().optional(),
});

export interface DriverSettings {
  /** The time after which a question expires. Absent: as the framework does. */
  readonly expiresMs?: number | undefined;
  /** The time after which a tool stops waiting for the sink. Absent: it waits. */
  readonly timeoutMs?: number | undefined;
  /**
   * The answer of the function that takes part in a decision. `silent`: there is none. `word`: the
   * text `perhaps`. `object`: an object without members.
   */
  readonly hook?: 'silent' | 'word' | 'object' | undefined;
  /** The time without a call after which a run no longer keeps others from its values. */
  readonly silentMs?: number | undefined;
}

/** The form of each request, by its operation. */
export const REQUESTS = {
  hello: z.object({ protocol: z.literal(PROTOCOL), folder: name, sink: z.url(), settings }),
  start: z.object({ run: name, calls: z.array(call).min(1) }),
  resume: z.object({ run: name, answers: z.record(z.string(), answer) }),
  retry: z.object({ run: name }),
  fork: z.object({ run: name }),
  tamper: z.object({ run: name, call: name, tool: z.enum(TOOLS), args }),
  shown: z.object({ run: name }),
  end: z.object({ run: name, failed: z.boolean() }),
} as const satisfies Readonly<Record<Operation, z.ZodType>>;

const told = z.object({ call: name, isError: z.boolean(), text: z.string() });

/** The answer to a call, as the model got it. A denial is an error. */
export interface Told {
  readonly call: string;
  readonly isError: boolean;
  readonly text: string;
}

const waiting = z.object({ call: name, tool: z.string(), args });

/** A call that waits for a person, as the person is shown it. */
export interface WaitingCall {
  readonly call: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
}

const progress = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('paused'),
    waiting: z.array(waiting),
    told: z.array(told).default([]),
  }),
  z.object({ state: z.literal('done'), told: z.array(told).default([]) }),
  z.object({ state: z.literal('failed'), error: z.string(), told: z.array(told).default([]) }),
]);

/** The end of a step of a run. */
export type Progress =
  | {
      readonly state: 'paused';
      readonly waiting: readonly WaitingCall[];
      readonly told?: readonly Told[];
    }
  | { readonly state: 'done'; readonly told?: readonly Told[] }
  | { readonly state: 'failed'; readonly error: string; readonly told?: readonly Told[] };

/** The answer to `hello`. */
export interface DriverIdentity {
  /** The name in the table, such as `LangGraph`. */
  readonly name: string;
  /** The versions of the packages that it runs. */
  readonly versions: Readonly<Record<string, string>>;
  /** The abilities that it lacks, each with its reason. */
  readonly cannot: Readonly<Partial<Record<Ability, string>>>;
}

/** The form of each answer, by its operation. */
export const ANSWERS = {
  hello: z.object({
    name,
    versions: z.record(z.string(), z.string()),
    cannot: z.partialRecord(z.enum(ABILITIES), z.string().min(1)).default({}),
  }),
  start: progress,
  resume: progress,
  retry: progress,
  fork: progress,
  tamper: z.object({ changed: z.number().int().min(0) }),
  shown: z.object({ waiting: z.array(waiting) }),
  end: z.object({ left: z.array(name).default([]) }),
} as const satisfies Readonly<Record<Operation, z.ZodType>>;

/** A line of the suite: `{"id": 1, "op": "start", …}`. */
export const requestLine: z.ZodType<{ readonly id: number; readonly op: Operation }> =
  z.looseObject({
    id: z.number().int(),
    op: z.enum(Object.keys(REQUESTS) as [Operation, ...Operation[]]),
  });

/** A line of the driver: `{"id": 1, "answer": {…}}` or `{"id": 1, "error": "…"}`. */
export const answerLine: z.ZodType<{
  readonly id: number;
  readonly answer?: unknown;
  readonly error?: string | undefined;
}> = z.object({
  id: z.number().int(),
  answer: z.unknown().optional(),
  error: z.string().optional(),
});
