import type { MinedRule } from '@assize/gate/internal/mining';

/** Where a rule of the policy shows: in calls, in the results of look-ups, or only in the talk. */
export type Visible = 'calls' | 'results' | 'talk';

/** One rule of the airline's policy, read by hand. */
export interface PolicyRule {
  readonly id: string;
  /** Words of `policy.md`, by which the rule is found there. */
  readonly says: string;
  readonly visible: Visible;
  /** Whether a mined rule says the same, or a part of it. Only for rules that calls show. */
  readonly isSaidBy?: (rule: MinedRule) => boolean;
}

function ordered(tool: string, needs: string, path: string): (rule: MinedRule) => boolean {
  return (rule) =>
    rule.kind === 'ordering' &&
    rule.tool === tool &&
    rule.needs === needs &&
    rule.on?.path === path;
}

function bounded(tool: string, path: string, max: number): (rule: MinedRule) => boolean {
  return (rule) =>
    rule.kind === 'bound' && rule.tool === tool && rule.path === path && rule.max <= max;
}

const LOOK = 'get_reservation_details';
const CHANGES = [
  'update_reservation_flights',
  'update_reservation_baggages',
  'update_reservation_passengers',
];

/** The rules of `policy.md` that the airline's agent gets, in its order. */
export const AIRLINE_RULES: readonly PolicyRule[] = [
  { id: 'confirmation', says: 'obtain explicit user confirmation (yes)', visible: 'talk' },
  { id: 'no-opinion', says: 'give subjective recommendations', visible: 'talk' },
  { id: 'one-call', says: 'only make one tool call at a time', visible: 'talk' },
  { id: 'deny', says: 'deny user requests that are against this policy', visible: 'talk' },
  { id: 'transfer', says: 'transfer the user to a human agent if and only if', visible: 'talk' },
  { id: 'available', says: 'has not taken off, cannot be booked', visible: 'results' },
  {
    id: 'book-user',
    says: 'The agent must first obtain the user id, then ask for the trip type',
    visible: 'calls',
    isSaidBy: ordered('book_reservation', 'get_user_details', '/user_id'),
  },
  {
    id: 'five-passengers',
    says: 'at most five passengers',
    visible: 'calls',
    isSaidBy: bounded('book_reservation', '/passengers', 5),
  },
  {
    id: 'payment-mix',
    says: 'at most one travel certificate, at most one credit card, and at most three gift cards',
    visible: 'calls',
    isSaidBy: bounded('book_reservation', '/payment_methods', 5),
  },
  {
    id: 'own-payment',
    says: 'payment methods must already be in user profile',
    visible: 'results',
  },
  { id: 'free-bags', says: 'Checked bag allowance', visible: 'results' },
  {
    id: 'ask-insurance',
    says: 'should ask if the user wants to buy the travel insurance',
    visible: 'talk',
  },
  {
    id: 'modify-ids',
    says: 'The agent must first obtain the user id and the reservation id.',
    visible: 'calls',
    isSaidBy: (rule) => CHANGES.some((tool) => ordered(tool, LOOK, '/reservation_id')(rule)),
  },
  { id: 'basic-economy', says: 'Basic economy flights cannot be modified', visible: 'results' },
  {
    id: 'same-trip',
    says: 'without changing the origin, destination, and trip type',
    visible: 'results',
  },
  {
    id: 'cabin-difference',
    says: 'require the user to pay for the difference',
    visible: 'results',
  },
  { id: 'bags-not-removed', says: 'can add but not remove checked bags', visible: 'results' },
  { id: 'passenger-count', says: 'cannot modify the number of passengers', visible: 'results' },
  {
    id: 'one-payment',
    says: 'provide one gift card or credit card for payment or refund',
    visible: 'calls',
    isSaidBy: (rule) =>
      (rule.kind === 'values' || rule.kind === 'prefix') &&
      rule.tool === CHANGES[0] &&
      rule.path === '/payment_id',
  },
  {
    id: 'cancel-ids',
    says: 'the user id, the reservation id, and the reason for cancellation',
    visible: 'calls',
    isSaidBy: ordered('cancel_reservation', LOOK, '/reservation_id'),
  },
  {
    id: 'cancel-ground',
    says: 'All reservations can be cancelled within 24 hours of booking',
    visible: 'results',
  },
  { id: 'not-flown', says: 'can only cancel the whole trip that is not flown', visible: 'results' },
  { id: 'cancelled-certificate', says: '$100 times the number of passengers', visible: 'results' },
  {
    id: 'delayed-certificate',
    says: 'after confirming the facts and changing or cancelling the reservation',
    visible: 'calls',
    isSaidBy: (rule) =>
      rule.kind === 'ordering' &&
      rule.tool === 'send_certificate' &&
      [...CHANGES, 'cancel_reservation'].includes(rule.needs),
  },
  { id: 'only-on-complaint', says: 'Do not proactively offer these', visible: 'talk' },
  {
    id: 'no-certificate',
    says: 'Do not compensate if the user is regular member',
    visible: 'results',
  },
];
