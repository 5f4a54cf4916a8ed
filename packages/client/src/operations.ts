import type { operations, paths } from './openapi.d.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths with an operation of a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { readonly [K in M]: object } ? P : never;
}[keyof paths];

export type OperationOf<M extends Method, P extends PathOf<M>> = paths[P] extends {
  readonly [K in M]: infer O;
}
  ? O
  : never;

type Part<O, N extends 'path' | 'query'> = O extends { parameters: { [K in N]: infer V } }
  ? { readonly [K in N]: V }
  : O extends { parameters: { [K in N]?: infer V } }
    ? { readonly [K in N]?: V }
    : unknown;
type Body<O> = O extends { requestBody: { content: { 'application/json': infer B } } }
  ? { readonly body: B }
  : O extends { requestBody?: { content: { 'application/json': infer B } } }
    ? { readonly body?: B }
    : unknown;

/** The parts of a request of an operation. */
export type RequestOf<O> = Part<O, 'path'> & Part<O, 'query'> & Body<O> & Sending;

export interface Sending {
  /** The idempotency key. With it, a change is repeated after a lost answer. */
  readonly key?: string;
  /** The seconds to wait for a decision (`Prefer: wait`). */
  readonly waitSeconds?: number;
  readonly signal?: AbortSignal;
}

/** The JSON document of an operation's answer. */
export type AnswerOf<O> = O extends { responses: infer R }
  ? {
      [S in keyof R & (200 | 201 | 202)]: R[S] extends { content: { 'application/json': infer A } }
        ? A
        : never;
    }[keyof R & (200 | 201 | 202)]
  : never;

export type Proposal = operations['proposals.create']['requestBody']['content']['application/json'];
export type Ruling = AnswerOf<operations['proposals.create']>;
export type ApprovalDecision =
  operations['approvals.approve']['requestBody']['content']['application/json'];
