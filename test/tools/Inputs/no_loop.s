	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.type	k,@function
k:
	s_endpgm
.Lfunc_end0:
	.size	k, .Lfunc_end0-k
