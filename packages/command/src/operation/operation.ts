import type { PrincipalKind } from 'assize/internal/config';
import type { z } from 'zod';
import type { Caller } from './caller.ts';
import type { Service } from './service.ts';

/** The media type of an interrupt of AG-UI. */
export const INTERRUPTS = 'application/vnd.ag-ui+json';

export type Method = 'get' | 'post' | 'delete';

/** The schema of one part of a request. An absent part accepts nothing. */
type Part = z.ZodObject | undefined;

type Given<P extends Part> = P extends z.ZodObject ? z.output<P> : Record<never, never>;

/** The checked parts of one request. `S`: the parts of the server that its operation uses. */
export interface Request<
  Path extends Part,
  Query extends Part,
  Body extends z.ZodType | undefined,
  S extends Service = Service,
> {
  readonly path: Given<Path>;
  readonly query: Given<Query>;
  readonly body: Body extends z.ZodType ? z.output<Body> : undefined;
  readonly caller: Caller;
  readonly service: S;
  /** The header `Idempotency-Key`. Given where the operation requires it. */
  readonly key: string;
  /**
   * 32 hex digits that an execution of the same request by another server has too: an answer that
   * was lost between the servers is given again. Only where the server forwards requests.
   */
  readonly attempt?: string | undefined;
  /** Ends the part of the request that counts as in progress: from now on it waits for a person. */
  readonly waits: () => void;
  /** The header `traceparent`, if it has the form of W3C. */
  readonly traceparent?: string | undefined;
  /** Seconds of `Prefer: wait=N`: how long the client waits for a decision. */
  readonly waitSeconds: number;
  /** Whether the client asks for the interrupts of AG-UI (`Accept: application/vnd.ag-ui+json`). */
  readonly wantsInterrupts: boolean;
  /**
   * Checks again that the caller may use the operation, for work that takes seconds.
   *
   * @throws ServerError `unauthenticated`, `forbidden`
   */
  readonly requireStanding: () => Promise<void>;
  /** The address of the server for browsers, without a path. */
  readonly origin: string;
  /** Ends when the client leaves or the server stops. */
  readonly signal: AbortSignal;
  /** Whether the client has the answer with that entity tag: an answer without a body is enough. */
  readonly hasAnswer: (etag: string) => boolean;
}

/** The answer of an operation: a document, or a stream of text. */
export interface Answer<Body = unknown> {
  /** Default: 200. */
  readonly status?: 200 | 201 | 202;
  /** By names in small letters. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
  /** In place of a body: a file. */
  readonly bytes?: Uint8Array;
  /** In place of a body: pieces of JSON Lines. */
  readonly lines?: AsyncIterable<string>;
  /** The entity tag of the body, without quotes. */
  readonly etag?: string;
}

/**
 * One operation of the API, contributed by the package that owns it. Routes, validation, the
 * OpenAPI document and `assize api` are made from the server's table of operations. No operation is
 * described twice. `S`: the parts of the server that it uses. Without `S` it is only described.
 */
export interface Operation<
  S extends Service = never,
  Path extends Part = Part,
  Query extends Part = Part,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Out extends z.ZodType = z.ZodType,
> {
  /** `proposals.create`: the resource and the verb. */
  readonly id: string;
  readonly method: Method;
  /** `/v1/trajectories/{trajectory}`: each parameter in braces is a member of `params`. */
  readonly path: `/v1/${string}`;
  /** One sentence. */
  readonly summary: string;
  /** The kinds of principals that may use the operation. */
  readonly kinds: readonly PrincipalKind[];
  readonly params?: Path;
  readonly query?: Query;
  readonly body?: Body;
  /** The least limit of the bytes of a body, where `server.limits.bodyBytes` is too few. */
  readonly bodyBytes?: number;
  /** The least limit of the names in an agent's body, where `server.limits.names` is too few. */
  readonly bodyNames?: number;
  /** Whether a member named `__proto__` in the body is refused: a schema would drop it unseen. */
  readonly refusesHidden?: true;
  /** The form of the answer, with its status codes. Default: 200. */
  readonly answer: Out;
  readonly statuses?: readonly (200 | 201 | 202)[];
  /** The proposals in a body of many. The limits count each as a request. */
  readonly proposalsOf?: (
    body: Body extends z.ZodType ? z.output<Body> : undefined,
  ) => readonly unknown[];
  /** The answer of the status 202 in another media type, for a client that asks for it. */
  readonly accepted?: { readonly media: string; readonly answer: z.ZodType };
  /** Whether the answer waits as long as the header `Prefer: wait=N` says. */
  readonly isWaiting?: true;
  /** Whether the header `Idempotency-Key` is required. */
  readonly needsKey?: boolean;
  /**
   * Whether a server may forward the request to the writer of the trajectory in its path. Without
   * an answer it is executed here too, so its keys must make a repetition the same request.
   */
  readonly isRouted?: true;
  /** Whether the answer is JSON Lines, each of the form `answer`. */
  readonly isLines?: boolean;
  /** The media type of an answer that is a file. Its `answer` is `fileForm`. */
  readonly media?: 'application/zip' | 'text/html';
  /** Codes of errors that are particular to this operation. */
  readonly errors?: readonly string[];
  readonly run: (request: Request<Path, Query, Body, S>) => Promise<Answer<z.input<Out>>>;
}

/** Declares an operation with the types of its parts. */
export type Declare<S extends Service> = <
  Path extends Part = undefined,
  Query extends Part = undefined,
  Body extends z.ZodType | undefined = undefined,
  Out extends z.ZodType = z.ZodType,
>(
  declared: Operation<S, Path, Query, Body, Out>,
) => Operation<S>;

/** The declaration of operations that use these parts of the server. */
export function operationsOf<S extends Service>(): Declare<S> {
  return (declared) => declared as unknown as Operation<S>;
}

/** Every kind of principal. */
export const ANYBODY: readonly PrincipalKind[] = ['agent', 'counselor', 'auditor', 'admin'];

/** The kinds that see the whole ledger. An agent sees its slices and its own proposals. */
export const READERS: readonly PrincipalKind[] = ['counselor', 'auditor', 'admin'];

export const ADMINS: readonly PrincipalKind[] = ['admin'];
