import { type Expression, type Node, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBindingElement,
  isCallExpression,
  isElementAccessExpression,
  isIdentifier,
  isNewExpression,
  isNumericLiteral,
  isParameterDeclaration,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertySignatureDeclaration,
  isStringLiteralLikeNode,
  isTypeReferenceNode,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';
import { type Checker, SignatureKind, type Type, TypeFlags } from 'typescript/unstable/async';
import { NAMES } from './allowed-names.ts';
import { isArgument, isCallee, shown } from './allowed-uses.ts';
import { each } from './bound-names.ts';

/** A fault of a function, with its place in the characters of the file. */
export interface TypedFault {
  readonly from: number;
  readonly says: string;
}

/** Types behind which a value can be anything. */
const OPEN: TypeFlags =
  TypeFlags.Any | TypeFlags.Unknown | TypeFlags.NonPrimitive | TypeFlags.InstantiableNonPrimitive;
const FUNCTIONS: ReadonlySet<string> = new Set(['Function', 'CallableFunction', 'NewableFunction']);

/**
 * The faults of the functions in a compiling module that types show. Every value has
 * a type that says what it is: none is `any`, `unknown`, `object` or `Function`. A value that can
 * be called is only called, or passed to a call. A computed key stands behind a record.
 */
export async function typedFaults(
  file: Node,
  spans: readonly { readonly from: number; readonly to: number }[],
  checker: Checker,
): Promise<TypedFault[]> {
  const values: Expression[] = [];
  const keyed: Expression[] = [];
  each(file, (node) => {
    const at = node.getStart();
    if (!spans.some(({ from, to }) => from <= at && at < to)) return;
    if (isValue(node)) values.push(node);
    if (isElementAccessExpression(node) && !isLiteralKey(node.argumentExpression))
      keyed.push(node.expression);
  });
  const kinds = new Kinds(checker);
  const found: TypedFault[] = [];
  for (const [i, type] of (await checker.getTypeAtLocation(values)).entries()) {
    const node = values[i] as Expression;
    const kind = type === undefined ? 'open' : await kinds.of(type);
    if (kind === 'open')
      found.push({
        from: node.getStart(),
        says: `the type of ${shown(node)} is open; give it a type that says all`,
      });
    else if (kind === 'function' && !isArgument(node))
      found.push({
        from: node.getStart(),
        says: `it uses the function ${shown(node)} as a value; only call it`,
      });
  }
  for (const [i, type] of (await checker.getTypeAtLocation(keyed)).entries()) {
    const node = keyed[i] as Expression;
    if (type === undefined || !(await kinds.isRecord(type)))
      found.push({
        from: node.getStart(),
        says: `${shown(node)} is not a record, so it takes no computed key; use at()`,
      });
  }
  return found;
}

/** The kinds of types that matter here, each found once. */
class Kinds {
  readonly #checker: Checker;
  readonly #known: Map<number, Promise<'open' | 'function' | 'plain'>> = new Map();

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  of(type: Type): Promise<'open' | 'function' | 'plain'> {
    const known = this.#known.get(type.id);
    if (known !== undefined) return known;
    // A type that contains itself is as its other parts.
    this.#known.set(type.id, Promise.resolve('plain'));
    const kind = this.#found(type);
    this.#known.set(type.id, kind);
    return kind;
  }

  async isRecord(given: Type): Promise<boolean> {
    const type = await this.#checker.getNonNullableType(given);
    const parts = type?.isUnionType() ? await type.getTypes() : [type];
    for (const part of parts)
      if (!part?.isObjectType() || (await this.#checker.isArrayLikeType(part))) return false;
    return true;
  }

  async #found(type: Type): Promise<'open' | 'function' | 'plain'> {
    if (type.flags & OPEN || type.isErrorType()) return 'open';
    if (type.isUnionType() || type.isIntersectionType()) return this.#worst(await type.getTypes());
    if (!type.isObjectType()) return 'plain';
    if (FUNCTIONS.has((await type.getSymbol())?.name ?? '')) return 'open';
    for (const kind of [SignatureKind.Call, SignatureKind.Construct])
      if ((await this.#checker.getSignaturesOfType(type, kind)).length > 0) return 'function';
    return type.isTypeReference()
      ? this.#worst(await this.#checker.getTypeArguments(type))
      : 'plain';
  }

  async #worst(types: readonly Type[]): Promise<'open' | 'function' | 'plain'> {
    const kinds = new Set<string>();
    for (const type of types) kinds.add(await this.of(type));
    return kinds.has('open') ? 'open' : kinds.has('function') ? 'function' : 'plain';
  }
}

/** An expression that is neither a declared name nor the name of a member or a type, nor called. */
function isValue(node: Node): node is Expression {
  if (isPropertyAccessExpression(node)) return !isCallee(node);
  if (isElementAccessExpression(node) || isCallExpression(node) || isNewExpression(node))
    return true;
  if (!isIdentifier(node)) return false;
  const { parent } = node;
  if (isPropertyAccessExpression(parent))
    return parent.expression === node && !Object.hasOwn(NAMES.function, node.text);
  if (isPropertyAssignment(parent)) return parent.initializer === node;
  if (isVariableDeclaration(parent) || isParameterDeclaration(parent))
    return parent.initializer === node;
  if (isBindingElement(parent)) return parent.initializer === node;
  if (isNewExpression(parent)) return parent.expression !== node;
  if (isPropertySignatureDeclaration(parent) || isTypeReferenceNode(parent)) return false;
  return parent.kind !== SyntaxKind.QualifiedName && !isCallee(node);
}

function isLiteralKey(node: Expression): boolean {
  return isNumericLiteral(node) || isStringLiteralLikeNode(node);
}
