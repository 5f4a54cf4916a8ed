/** The axes on which a child can be wider than its parent. */
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
