/**
 * JSON Schemas of tools, compiled by one library: in this thread, or in one with a budget.
 * Guarantees: a schema means what the test suite of JSON Schema says for its draft, or is refused
 * by the place of the part that would mean something else.
 * Never: loads another file; throws for a schema or a value.
 */
export { type Compiled, type CompileOptions, compiled } from './compile.ts';
export { type AskedOfSchema, type SchemaAnswer, SchemaThread } from './schema-thread.ts';
