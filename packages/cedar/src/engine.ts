import { isInstance } from 'assize/internal/base';
import { CedarError } from './errors.ts';

/** An error or warning of Cedar, with its place: offsets in bytes of the text. */
export interface Complaint {
  readonly message: string;
  readonly help: string | null;
  readonly sourceLocations?: readonly { readonly start: number }[];
}

/** A complaint about one policy. */
export interface PolicyComplaint {
  readonly policyId: string;
  readonly error: Complaint;
}

export interface EntityName {
  readonly type: string;
  readonly id: string;
}

/** A value in Cedar's JSON form. Only this package creates escapes, from checked texts. */
export type CedarValue =
  | boolean
  | number
  | string
  | readonly CedarValue[]
  | { readonly [name: string]: CedarValue }
  | { readonly __extn: { readonly fn: 'decimal' | 'datetime'; readonly arg: string } };

/** One question, with every entity that it names. */
export interface CedarRequest {
  readonly principal: EntityName;
  readonly action: EntityName;
  readonly resource: EntityName;
  readonly context: { readonly [name: string]: CedarValue };
  readonly entities: readonly {
    readonly uid: EntityName;
    readonly attrs: Readonly<Record<string, never>>;
    readonly parents: readonly EntityName[];
  }[];
}

type Failure = { readonly type: 'failure'; readonly errors: readonly Complaint[] };
type PolicyTexts = { readonly staticPolicies: string | Readonly<Record<string, string>> };

/**
 * The used part of `@cedar-policy/cedar-wasm`, declared by its shape, so that the types do not need
 * the package.
 */
export interface CedarEngine {
  getCedarVersion(): string;
  getCedarLangVersion(): string;
  schemaToJson(
    schema: string | object,
  ): { readonly type: 'success'; readonly json: unknown } | Failure;
  policySetTextToParts(
    text: string,
  ): { readonly type: 'success'; readonly policies: readonly string[] } | Failure;
  policyToJson(text: string):
    | {
        readonly type: 'success';
        readonly json: {
          readonly effect: string;
          readonly annotations?: Readonly<Record<string, string>>;
        };
      }
    | Failure;
  validate(call: { schema: string | object; policies: PolicyTexts }):
    | {
        readonly type: 'success';
        readonly validationErrors: readonly PolicyComplaint[];
        readonly validationWarnings: readonly PolicyComplaint[];
        readonly otherWarnings: readonly Complaint[];
      }
    | Failure;
  preparsePolicySet(id: string, policies: PolicyTexts): { readonly type: 'success' } | Failure;
  preparseSchema(id: string, schema: string | object): { readonly type: 'success' } | Failure;
  statefulIsAuthorized(
    call: CedarRequest & {
      preparsedSchemaName: string;
      validateRequest: true;
      preparsedPolicySetId: string;
    },
  ):
    | {
        readonly type: 'success';
        readonly response: {
          readonly decision: 'allow' | 'deny';
          readonly diagnostics: {
            readonly reason: readonly string[];
            readonly errors: readonly PolicyComplaint[];
          };
        };
      }
    | Failure;
}

/** @throws CedarError `missing_package` */
export async function loadEngine(): Promise<CedarEngine> {
  try {
    return (await import('@cedar-policy/cedar-wasm/nodejs')) as unknown as CedarEngine;
  } catch (cause) {
    if (!isInstance(cause, Error) || !('code' in cause) || cause.code !== 'ERR_MODULE_NOT_FOUND')
      throw cause;
    throw new CedarError(
      'missing_package',
      'The package @cedar-policy/cedar-wasm is not installed. Run npm install @cedar-policy/cedar-wasm.',
      { cause },
    );
  }
}

/** The complaint in one line, with its place in the text. */
export function sayingOf(
  { message, help, sourceLocations = [] }: Complaint,
  text?: string,
): string {
  const [place] = sourceLocations;
  const where =
    place === undefined || text === undefined ? '' : `${lineAndColumn(text, place.start)}: `;
  return `${where}${message}${help === null ? '' : ` (${help})`}`;
}

function lineAndColumn(text: string, offset: number): string {
  const lines = Buffer.from(text).subarray(0, offset).toString().split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) as string).length + 1}`;
}
