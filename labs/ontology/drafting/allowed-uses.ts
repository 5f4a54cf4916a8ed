import { type Expression, type Identifier, type Node, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isNumericLiteral,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertySignatureDeclaration,
  isStringLiteralLikeNode,
  isTypeReferenceNode,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';
import {
  FORBIDDEN_MEMBERS,
  METHODS,
  NAMES,
  PLAIN_TYPES,
  type Sort,
  TYPES,
} from './allowed-names.ts';
import { type BoundNames, isOfState } from './bound-names.ts';

/** The fault of a name: of a member, of a type, of the fragment, or of its surroundings. */
export function identifierFault(
  node: Identifier,
  sort: Sort,
  bound: BoundNames,
): string | undefined {
  const { text, parent } = node;
  if (isPropertyAccessExpression(parent) && parent.name === node) return memberFault(text);
  if (isPropertyAssignment(parent) && parent.name === node) return memberFault(text);
  if (isPropertySignatureDeclaration(parent) && parent.name === node) return memberFault(text);
  if (isBindingElement(parent) && parent.propertyName === node) return memberFault(text);
  if (isTypeReferenceNode(parent)) return TYPES.has(text) ? undefined : `it names the type ${text}`;
  if (!bound.all.has(text)) return globalFault(node, sort);
  const isDeclaration = isVariableDeclaration(parent) && parent.name === node;
  if (bound.arrows.has(text) && !isDeclaration && !isCallee(node) && !isArgument(node))
    return `it uses the function ${text} as a value; call it, or pass it to a call`;
  return memberFault(text);
}

function globalFault(node: Identifier, sort: Sort): string | undefined {
  const { text, parent } = node;
  const known = Object.hasOwn(NAMES[sort], text) ? NAMES[sort][text] : undefined;
  if (known === undefined) return `it uses ${text}, which a ${sort} must not use`;
  if (known.members === undefined && known.calls === undefined && known.makes === undefined)
    return undefined;
  if (isCallee(node) && known.calls) return undefined;
  if (isNewExpression(parent) && parent.expression === node && known.makes) return undefined;
  if (!isPropertyAccessExpression(parent) || parent.expression !== node)
    return `it uses ${text} as a value; call it, or one of its members, directly`;
  const member = parent.name.text;
  return known.members?.split(' ').includes(member) ? undefined : `it uses ${text}.${member}`;
}

export function memberFault(name: string): string | undefined {
  return FORBIDDEN_MEMBERS.has(name) ? `it names the member ${name}` : undefined;
}

/** A function in a function stands as the value of a `const`, or is passed to a call. */
export function arrowFault(node: Expression, sort: Sort, bound: BoundNames): string | undefined {
  const { parent } = node;
  const isConstant =
    isVariableDeclaration(parent) &&
    isIdentifier(parent.name) &&
    bound.arrows.has(parent.name.text) &&
    !parent.type;
  if (sort === 'function' && (isConstant || isArgument(node))) return undefined;
  return `it has the function ${shown(node)} as a value; bind it by const without a type, or pass it to a call`;
}

/** A name of the module or the language, a method, or an arrow function that a `const` has. */
export function calleeFault(callee: Expression, sort: Sort, bound: BoundNames): string | undefined {
  if (isIdentifier(callee))
    return bound.all.has(callee.text) && !bound.arrows.has(callee.text)
      ? `it calls ${callee.text}, and const binds no such function`
      : undefined;
  if (!isPropertyAccessExpression(callee))
    return `it calls ${shown(callee)}; call a name or a method`;
  const { expression: receiver, name } = callee;
  const isGlobal = isIdentifier(receiver) && !bound.all.has(receiver.text);
  if (isGlobal || METHODS[sort].has(name.text)) return undefined;
  return `it calls ${name.text}, which a ${sort} must not call`;
}

/** A schema is read no further than `z.iso`. */
export function readFault(
  node: Expression & { readonly expression: Expression },
): string | undefined {
  const isMemberOfZ = isPropertyAccessExpression(node) && isIdentifier(node.expression);
  return isMemberOfZ || isCallee(node)
    ? undefined
    : `it reads ${shown(node)}; a schema only calls z and its methods`;
}

/** A computed key can name a member of a class wherever it is not a key of the state. */
export function keyFault(
  node: Expression & { readonly expression: Expression; readonly argumentExpression: Expression },
  { ofState }: BoundNames,
): string | undefined {
  const { argumentExpression: key } = node;
  if (isNumericLiteral(key) || isStringLiteralLikeNode(key) || isOfState(node.expression, ofState))
    return undefined;
  return `it has the computed key ${shown(node)} outside of the state; use a Map, or at() of a list`;
}

/** `typeof x === 'string'` and the like. */
export function typeofFault(node: Expression): string | undefined {
  const { parent } = node;
  if (isBinaryExpression(parent) && EQUALITIES.has(parent.operatorToken.kind)) {
    const other = parent.left === node ? parent.right : parent.left;
    if (isStringLiteralLikeNode(other) && PLAIN_TYPES.has(other.text)) return undefined;
  }
  return `it has ${shown(node)}; compare typeof only with ${[...PLAIN_TYPES].join(', ')}`;
}

const EQUALITIES: ReadonlySet<SyntaxKind> = new Set([
  ...[SyntaxKind.EqualsEqualsToken, SyntaxKind.EqualsEqualsEqualsToken],
  ...[SyntaxKind.ExclamationEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken],
]);

export function isCallee(node: Expression): boolean {
  return isCallExpression(node.parent) && node.parent.expression === node;
}

export function isArgument(node: Expression): boolean {
  return isCallExpression(node.parent) && node.parent.arguments.some((one) => one === node);
}

export function shown(node: Node): string {
  return JSON.stringify(node.getText().slice(0, 60));
}
