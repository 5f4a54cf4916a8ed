import type { Json } from 'assize/internal/base';

/** A schema of Mastra: it tells a form, and takes every value. */
export interface ToldSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'assize';
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: { readonly input: () => Json; readonly output: () => Json };
  };
}

/**
 * A schema that refuses nothing. Mastra ends a call with an answer of another form. Behind the
 * gate, such an answer makes the ledger be asked again.
 */
function told(form: Json): ToldSchema {
  const validate = (value: unknown) => ({ value });
  const json = () => structuredClone(form);
  return {
    '~standard': {
      version: 1,
      vendor: 'assize',
      validate,
      jsonSchema: { input: json, output: json },
    },
  };
}

const TEXT = { type: 'string' };
const CALL = {
  type: 'object',
  properties: { call: TEXT, approval: TEXT, digest: TEXT },
  required: ['call', 'approval'],
};

/** The form of an answer. */
const ANSWER: Json = {
  type: 'object',
  properties: { decision: { enum: ['approve', 'reject'] }, reason: TEXT, assize: CALL },
  required: ['decision', 'assize'],
};

/** The form of a pause. */
const SUSPENSION: Json = {
  type: 'object',
  properties: { tool: TEXT, args: { type: 'object' }, message: TEXT, assize: CALL },
  required: ['tool', 'args', 'message', 'assize'],
};

/** In the place of a tool's own form: that does not describe an answer to Assize. */
export const RESUME_SCHEMA: ToldSchema = told(ANSWER);

/** In the place of a tool's own form: that does not describe a pause of Assize. */
export const SUSPEND_SCHEMA: ToldSchema = told(SUSPENSION);

/** The form of an answer to a pause, as its chunk tells it. */
export const ANSWER_FORM: string = JSON.stringify(ANSWER);
