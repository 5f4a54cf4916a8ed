import {
  type BindingName,
  type Expression,
  type Node,
  NodeFlags,
  type ParameterDeclaration,
  SyntaxKind,
} from 'typescript/unstable/ast';
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isElementAccessExpression,
  isForOfStatement,
  isIdentifier,
  isNonNullExpression,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isSpreadElement,
  isVariableDeclaration,
  isVariableDeclarationList,
} from 'typescript/unstable/ast/is';

/**
 * The names that a fragment declares. A name counts as an arrow function, or as a part of the
 * state, if it is one at each of its declarations. So no scope has to be known.
 */
export interface BoundNames {
  readonly all: ReadonlySet<string>;
  /** Bound by `const` to an arrow function. */
  readonly arrows: ReadonlySet<string>;
  /** Bound to the state of the fragment or to a part of it, and never assigned. */
  readonly ofState: ReadonlySet<string>;
}

/** One declaration of a name. `of`: the value that the name stands for, or leads into. */
interface Declared {
  readonly name: string;
  readonly of: Expression | 'state' | 'arrow' | 'other';
}

/** Methods of a list whose function gets elements of it, by the index of that parameter. */
const ELEMENT_PARAMETERS: readonly ReadonlySet<string>[] = [
  new Set(
    'every filter find findIndex findLast findLastIndex flatMap forEach map some sort toSorted'.split(
      ' ',
    ),
  ),
  new Set('sort toSorted reduce reduceRight'.split(' ')),
];
/** Methods of a list whose result is an element of it, or has only elements of it. */
const ELEMENTS: ReadonlySet<string> = new Set(
  'at filter find findLast flat pop reverse shift slice sort toReversed toSorted values entries'.split(
    ' ',
  ),
);

/** The names of a fragment. The first parameter of its function is the state. */
export function boundNames(root: Expression): BoundNames {
  const declared: Declared[] = [];
  const assigned = new Set<string>();
  each(root, (node) => {
    if (isParameterDeclaration(node)) {
      const of = node.initializer || node.dotDotDotToken ? 'other' : parameterOf(node, root);
      declared.push(...namesIn(node.name, of));
    } else if (isVariableDeclaration(node)) declared.push(...namesIn(node.name, variableOf(node)));
    const target = assignedIn(node);
    if (target !== undefined && isIdentifier(target)) assigned.add(target.text);
  });
  const all = new Set(declared.map(({ name }) => name));
  const constant = new Set([...all].filter((name) => !assigned.has(name)));
  const only = (names: ReadonlySet<string>, holds: (of: Declared['of']) => boolean): Set<string> =>
    new Set(
      [...names].filter((name) => declared.every((one) => one.name !== name || holds(one.of))),
    );
  let ofState: ReadonlySet<string> = constant;
  for (let size = -1; size !== ofState.size; ) {
    size = ofState.size;
    const known = ofState;
    ofState = only(
      known,
      (of) => of === 'state' || (typeof of === 'object' && isOfState(of, known)),
    );
  }
  return { all, arrows: only(constant, (of) => of === 'arrow'), ofState };
}

/**
 * Whether an expression can only be the state or a part of it. The kernel shows a fragment no more
 * than the own members of these: every key is a key like any other.
 */
export function isOfState(node: Expression, ofState: ReadonlySet<string>): boolean {
  if (isIdentifier(node)) return ofState.has(node.text);
  if (
    isPropertyAccessExpression(node) ||
    isElementAccessExpression(node) ||
    isNonNullExpression(node)
  )
    return isOfState(node.expression, ofState);
  if (isParenthesizedExpression(node)) return isOfState(node.expression, ofState);
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return false;
  const { expression: receiver, name } = node.expression;
  const [first] = node.arguments;
  if (
    isIdentifier(receiver) &&
    receiver.text === 'Object' &&
    (name.text === 'values' || name.text === 'entries')
  )
    return first !== undefined && !isSpreadElement(first) && isOfState(orEmpty(first), ofState);
  return ELEMENTS.has(name.text) && isOfState(receiver, ofState);
}

/** The target of an assignment, an increment or a decrement, without parentheses and `!`. */
export function assignedIn(node: Node): Expression | undefined {
  if (isBinaryExpression(node)) {
    const { kind } = node.operatorToken;
    const assigns = kind >= SyntaxKind.FirstAssignment && kind <= SyntaxKind.LastAssignment;
    return assigns ? bare(node.left) : undefined;
  }
  if (!isPrefixUnaryExpression(node) && !isPostfixUnaryExpression(node)) return undefined;
  const changes =
    node.operator === SyntaxKind.PlusPlusToken || node.operator === SyntaxKind.MinusMinusToken;
  return changes ? bare(node.operand) : undefined;
}

export function each(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => {
    each(child, visit);
  });
}

function bare(node: Expression): Expression {
  return isParenthesizedExpression(node) || isNonNullExpression(node)
    ? bare(node.expression)
    : node;
}

function parameterOf(parameter: ParameterDeclaration, root: Expression): Declared['of'] {
  const arrow = parameter.parent;
  if (!isArrowFunction(arrow)) return 'other';
  const index = arrow.parameters.indexOf(parameter);
  if (arrow === root) return index === 0 ? 'state' : 'other';
  const call = arrow.parent;
  if (!isCallExpression(call) || call.arguments[0] !== arrow) return 'other';
  if (!isPropertyAccessExpression(call.expression)) return 'other';
  const { expression: receiver, name } = call.expression;
  return ELEMENT_PARAMETERS[index]?.has(name.text) ? receiver : 'other';
}

function variableOf({
  initializer,
  parent,
}: Node & { readonly initializer?: Expression }): Declared['of'] {
  if (!isVariableDeclarationList(parent) || !(parent.flags & NodeFlags.Const)) return 'other';
  if (isForOfStatement(parent.parent)) return orEmpty(parent.parent.expression);
  if (initializer === undefined) return 'other';
  return isArrowFunction(initializer) ? 'arrow' : initializer;
}

/** A default, or the rest of a value, is a value of its own. */
function namesIn(name: BindingName, of: Declared['of']): Declared[] {
  if (isIdentifier(name)) return [{ name: name.text, of }];
  return [...name.elements].flatMap((element) => {
    if (!isBindingElement(element) || element.name === undefined) return [];
    const isPart =
      element.initializer === undefined && element.dotDotDotToken === undefined && of !== 'arrow';
    return namesIn(element.name, !isPart ? 'other' : typeof of === 'object' ? orEmpty(of) : of);
  });
}

/** `loans` of `loans ?? {}`: an empty object or list adds no members. */
function orEmpty(node: Expression): Expression {
  if (isParenthesizedExpression(node)) return orEmpty(node.expression);
  if (!isBinaryExpression(node) || node.operatorToken.kind !== SyntaxKind.QuestionQuestionToken)
    return node;
  const { left, right } = node;
  const isEmpty = isObjectLiteralExpression(right)
    ? right.properties.length === 0
    : isArrayLiteralExpression(right) && right.elements.length === 0;
  return isEmpty ? left : node;
}
