// The transport's default media manager needs Daily's library, which loads from a host of its own. The page has its own
// media manager, so nothing of that library is used.
export default undefined;
