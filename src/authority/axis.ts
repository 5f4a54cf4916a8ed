/** The ways in which a child could be wider than its parent. */
export type Axis =
  | 'issuer'
  | 'parent'
  | 'trajectory'
  | 'actions'
  | 'scopes'
  | 'budget'
  | 'not_before'
  | 'expires'
  | 'max_depth'
  | 'require_approval';
