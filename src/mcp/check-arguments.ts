import { isInstance } from '#base';
import { loadAjv } from './peers.ts';
import type { Definition } from './upstream/definitions.ts';

type Validate = (args: unknown) => { readonly valid: boolean; readonly errorMessage?: string | undefined };

/** Checks arguments by the approved schemas of tools. */
export class ArgumentCheck {
  readonly #known: Map<string, Validate | string> = new Map();

  /** The fault of arguments, or undefined. A schema that cannot be used lets nothing through. */
  async faultOf({ hash, tool }: Definition, args: object): Promise<string | undefined> {
    const validate = this.#known.get(hash) ?? (await this.#validator(hash, tool.inputSchema));
    if (typeof validate === 'string') return validate;
    const { valid, errorMessage } = validate(args);
    return valid ? undefined : (errorMessage ?? 'they do not fit the schema of the tool').slice(0, 2_000);
  }

  async #validator(hash: string, schema: object): Promise<Validate | string> {
    const { AjvJsonSchemaValidator } = await loadAjv();
    let found: Validate | string;
    try {
      found = new AjvJsonSchemaValidator().getValidator(schema as never) as Validate;
    } catch (error) {
      if (!isInstance(error, Error)) throw error;
      found = `the schema of the tool cannot be used: ${error.message.slice(0, 500)}`;
    }
    this.#known.set(hash, found);
    return found;
  }
}
